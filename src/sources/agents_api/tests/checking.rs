use super::*;
use crate::domain::{Check, Verdict};
use crate::net::testing::nobody;

/// Returns the checks as doctor prints them, without the site's words.
fn words(checks: &[Check]) -> Vec<String> {
    let word = |verdict| match verdict {
        Verdict::Good => "good",
        Verdict::Warn => "warn",
        Verdict::Bad => "bad",
    };
    let line = |check: &Check| {
        format!("{} {}: {} -> {}", word(check.verdict), check.what, check.found, check.advice)
    };
    checks.iter().map(line).collect()
}

async fn looked_over(setup: Setup) -> Vec<String> {
    words(&Desk::at(setup).await.source.checked().await)
}

const GOOD: Setup = Setup::DATA_MACHINE;

#[tokio::test]
async fn working_site_passes_every_check() {
    let desk = Desk::at(GOOD).await;
    desk.site.put(|_| ());

    let checks = desk.source.checked().await;

    assert_eq!(
        words(&checks),
        [
            "good address: WordPress answers -> ",
            "good abilities: they are there, a host answers, and this user may use them -> ",
            "good user: decisions are sent under the name that the site gave -> ",
            "good list: 1 pending -> ",
        ]
    );
    assert_eq!(checks[2].said, Some("user:7".into()));
    assert!(desk.resolves().is_empty());
}

#[tokio::test]
async fn doctor_says_how_many_actions_other_users_created() {
    let desk = Desk::at(GOOD).await;
    desk.site.put(|_| ());
    desk.site.put(|kept| kept.creator = 1);

    let told = words(&desk.source.checked().await);

    let want =
        "warn creators: other users created 1 of 2 pending; on Data Machine only the creator can decide -> ";
    assert!(told.last().is_some_and(|line| line.starts_with(want)), "{told:?}");
}

#[tokio::test]
async fn rest_api_url_is_accepted_as_the_site() {
    use crate::sources::agents_api::site::address;
    for (url, want) in [
        ("https://a.example", "https://a.example"),
        ("https://a.example/wp-json", "https://a.example"),
        ("https://a.example/blog/wp-json/wp/v2", "https://a.example/blog"),
        ("https://a.example/wp-jsonx", "https://a.example/wp-jsonx"),
    ] {
        assert_eq!(address(url), want);
    }
    let desk = Desk::at(GOOD).await;
    desk.site.put(|_| ());
    let config = config(&format!("{}/wp-json", desk.url));
    let source = crate::sources::open_in_a_hurry(&config, Duration::from_secs(20)).unwrap();

    let told = words(&source.checked().await);

    assert_eq!(told.first().map(String::as_str), Some("good address: WordPress answers -> "));
    assert_eq!(told.last().map(String::as_str), Some("good list: 1 pending -> "));
}

#[tokio::test]
async fn each_site_problem_has_its_own_message() {
    let of = [
        (
            Setup { host: Host::Nobody, ..GOOD },
            "agents-api is there, but no plugin beside it keeps pending actions",
        ),
        (Setup { agents_api: false, ..GOOD }, "this site has no abilities for pending actions"),
        (Setup { abilities_api: false, ..GOOD }, "this WordPress has no abilities: it needs 6.9"),
        (Setup { rights: false, ..GOOD }, "this user may not use the abilities"),
        (Setup { passwords: false, ..GOOD }, "it offers no application passwords"),
    ];
    for (setup, sentence) in of {
        let told = looked_over(setup).await;
        assert_eq!(told.len(), 2, "no check follows: {told:?}");
        assert!(told[1].starts_with("bad abilities: ") && told[1].contains(sentence), "{told:?}");
        assert!(!told[1].ends_with("-> "), "advice is missing: {told:?}");
        let error = Desk::at(setup).await.listed().await.unwrap_err();
        assert!(!error.lost_sight(), "{error:?}");
    }

    let told = looked_over(Setup { tells_who: false, ..GOOD }).await;
    assert!(told[2].contains("so nothing can be decided"), "{told:?}");
}

#[tokio::test]
async fn wrong_password_and_wrong_address_are_distinguished() {
    let desk = Desk::at(GOOD).await;
    let wrong = SourceConfig { auth: Auth::Basic { user: "ken".to_owned() }, ..config(&desk.url) };
    let source = crate::sources::open_in_a_hurry(&wrong, Duration::from_secs(20)).unwrap();
    let told = words(&source.checked().await);
    assert!(told[1].contains("nobody is logged in") && told[1].contains("Authorization"), "{told:?}");
    assert_eq!(source.sync(None).await, Err(SourceError::Unauthorized));

    let other = serve(axum::Router::new()).await;
    let source = crate::sources::open_in_a_hurry(&config(&other), Duration::from_secs(20)).unwrap();
    let told = words(&source.checked().await);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("no WordPress REST API answers there (HTTP 404)"), "{told:?}");

    let source = crate::sources::open_in_a_hurry(&config(&nobody().await), Duration::from_secs(20)).unwrap();
    let told = words(&source.checked().await);
    assert!(told[0].starts_with("bad address: it cannot be reached"), "{told:?}");
}

#[tokio::test]
async fn inbox_reports_what_the_site_lacks() {
    for (setup, words) in [
        (Setup { host: Host::Nobody, ..GOOD }, "keeps pending actions"),
        (Setup { agents_api: false, ..GOOD }, "agents-api is missing"),
        (Setup { rights: false, ..GOOD }, "manage_options"),
    ] {
        let error = Desk::at(setup).await.listed().await.unwrap_err();

        assert!(error.why().is_some_and(|why| why.as_raw().contains(words)), "{error:?}");
    }
}
