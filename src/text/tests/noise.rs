//! Tests that real text is shown unchanged.

use std::path::{Path, PathBuf};

use crate::rounds::{Random, skipped};
use crate::text::{Badge, badges, hidden, part};

const REAL: [&str; 40] = [
    "Could not open “%s”: permission denied",
    "Datei »%s« konnte nicht geöffnet werden",
    "L’opération a échoué : réessayez",
    "Prix : 1 234,50 €",
    "«\u{202f}Oui\u{202f}», dit-elle\u{202f}!",
    "¿Desea eliminar 3 archivos?",
    "Não há ações pendentes",
    "Il file è già aperto",
    "Bestand kan niet worden geopend",
    "Zażółć gęślą jaźń w\u{a0}pliku",
    "Příliš žluťoučký kůň v\u{a0}záloze k\u{a0}9.",
    "Árvíztűrő tükörfúrógép",
    "Żądanie wygasło\u{a0}– spróbuj",
    "İşlem başarısız oldu, ığdır",
    "Не удалось открыть файл «%s»",
    "Файл не знайдено: об’єкт",
    "Δεν είναι δυνατό το άνοιγμα",
    "לא ניתן לפתוח את הקובץ",
    "تعذّر فتح الملف",
    "نمی‌توان پرونده را باز کرد",
    "फ़ाइल नहीं खोली जा सकी",
    "क्‍षेत्र",
    "ফাইল খোলা যায়নি",
    "கோப்பைத் திறக்க முடியவில்லை",
    "ఫైల్‌ను తెరవలేదు",
    "ഫയല്\u{200d} തുറക്കാന്\u{200d} കഴിഞ്ഞില്ല, രേഖകള്\u{200d}",
    "ගොනුව විවෘත කළ නොහැක, ශ්‍රී",
    "ไม่สามารถเปิดไฟล์ได้",
    "ເປີດໄຟລ໌ບໍ່ໄດ້",
    "មិន\u{200b}អាច\u{200b}បើក\u{200b}\u{200b}ឯកសារ\u{200b}\u{a0}។",
    "ဖိုင်ကို ဖွင့်၍မရပါ",
    "ཡིག་ཆ་ཁ་འབྱེད་མི་ཐུབ།",
    "ფაილი ვერ გაიხსნა",
    "Ֆայլը չի բացվում․ սխալ",
    "ፋይሉን መክፈት አልተቻለም",
    "无法打开文件“%s”",
    "ファイルを開けません　再試行",
    "파일을 열 수 없습니다",
    "Không thể mở tập tin tiếng Việt",
    "👨‍👩‍👧 ❤️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪 👍🏽 ✔ → ½ × €",
];

#[test]
fn g4_real_text_has_no_tokens_and_no_alarms() {
    for text in REAL {
        assert_eq!(hidden(text), 0, "{}", part(text).plain());
        assert_eq!(badges(text).alarms().count(), 0, "{text}");
    }
}

/// Reads the installed translations, a million and a half, in the long form only.
#[test]
fn g4_at_most_three_messages_in_a_thousand_have_tokens() {
    if std::env::var_os("PLACET_LONG").is_none() {
        return skipped("reads every translation with PLACET_LONG=1");
    }
    let (mut all, mut tokens, mut alarms, mut examples) = (0_u64, 0_u64, 0_u64, Vec::new());
    each_translation(|path, text| {
        all += 1;
        let marked = hidden(text) > 0;
        let alarmed = badges(text).alarms().next();
        tokens += u64::from(marked);
        alarms += u64::from(alarmed.is_some());
        if (marked || alarmed.is_some()) && examples.len() < 40 && all % 7 == 0 {
            examples.push(format!("{} {alarmed:?} {}", path.display(), part(text).plain()));
        }
    });
    println!("{all} messages, {tokens} with a token, {alarms} with an alarm\n{}", examples.join("\n"));
    if all == 0 {
        return skipped("no translations on this machine");
    }
    // Most of them are direction marks of Arabic and Hebrew translators, which are never drawn.
    assert!(tokens * 1_000 <= 3 * all && alarms * 1_000 <= 7 * all, "{tokens} and {alarms} of {all}");
}

/// Samples lines by a seed. The bound holds for these packages of Debian 12, among others: iso-codes, libgtk2.0-common,
/// libglib2.0-data, libgdk-pixbuf2.0-common, at-spi2-common, postgresql-15, binutils-common, coreutils, libpam-runtime,
/// wget, shared-mime-info, xdg-user-dirs, software-properties-common, packagekit, man-db, gsettings-desktop-schemas,
/// appstream, xkb-data, grep, apt, dpkg, gettext, sed, findutils, bash, tar, git, gnupg-l10n, libc-l10n.
#[test]
fn few_drawn_lines_have_an_alarm() {
    if std::env::var_os("PLACET_LONG").is_none() {
        return skipped("reads every translation with PLACET_LONG=1");
    }
    let mut lines = Vec::new();
    each_translation(|_, text| lines.extend(text.lines().map(str::trim).map(str::to_owned)));
    lines.retain(|line| !line.is_ascii());
    lines.sort_unstable();
    lines.dedup();
    if lines.len() < 20_000 {
        return skipped("too few translations on this machine");
    }
    let mut random = Random::of(20_261_127);
    let drawn = (0..20_000).map(|_| lines.swap_remove(random.below(lines.len())));
    // Control characters and direction marks are alarms in any text.
    let intended = |badge: &Badge| matches!(badge, Badge::Control | Badge::Bidi);
    let alarming = |line: &String| {
        let badges = badges(line);
        let is_alone = hidden(line) > 0 && !badges.has(Badge::Control) && !badges.has(Badge::Bidi);
        is_alone || badges.alarms().any(|badge| !intended(&badge))
    };
    let alarms: Vec<String> = drawn.filter(alarming).collect();
    println!("{} of 20000: {alarms:#?}", alarms.len());
    assert!(alarms.len() <= 20, "{} of 20000", alarms.len());
}

fn each_translation(mut told: impl FnMut(&Path, &str)) {
    let mut folders = vec![PathBuf::from("/usr/share/locale")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "mo") {
                let all = messages(&std::fs::read(&path).unwrap_or_default());
                for text in &all {
                    told(&path, text);
                }
            }
        }
    }
}

/// Returns the UTF-8 translations of a gettext catalogue (manual: "The Format of GNU MO Files").
fn messages(bytes: &[u8]) -> Vec<String> {
    let number = |at: usize| -> Option<usize> {
        Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize)
    };
    if number(0) != Some(0x9504_12de) {
        return Vec::new();
    }
    let (count, table) = (number(8).unwrap_or_default(), number(16).unwrap_or_default());
    let entry = |nth: usize| {
        let (length, at) = (number(table + 8 * nth)?, number(table + 8 * nth + 4)?);
        String::from_utf8(bytes.get(at..at + length)?.to_vec()).ok()
    };
    (0..count)
        .filter_map(entry)
        .flat_map(|all| all.split('\0').map(str::to_owned).collect::<Vec<_>>())
        .collect()
}
