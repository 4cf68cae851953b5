//! Tests of the module's promises: two texts never look the same, and nothing is left out.

mod inverse;
mod noise;

#[test]
fn json_hides_nothing_and_keeps_every_value() {
    let hidden = "\u{7f}\u{85}\u{9b}\u{ad}\u{61c}\u{180e}\u{200b}\u{200d}\u{202e}\u{2028}\u{2066}\u{feff}\u{fe0f}\u{378}\u{e000}\u{e0041}\u{10ffff}";
    let plain = "a é 世 ß ё \u{301} 😀 ⟦";
    let text = serde_json::to_string(&format!("{plain}{hidden}")).unwrap();

    let json = super::json(&text);
    let escapes = json.matches("\\u").count();

    assert_eq!(serde_json::from_str::<String>(&json).unwrap(), format!("{plain}{hidden}"));
    assert!(json.contains(plain) && !json.contains(|c| hidden.contains(c)), "{json:?}");
    // Two characters need a surrogate pair.
    assert_eq!(escapes, hidden.chars().count() + 2);
    assert_eq!(super::json("{\n\t\"a\": 1\n}\n"), "{\n\t\"a\": 1\n}\n");
}
