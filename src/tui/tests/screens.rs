//! Whole screens.

use super::desk::{Desk, action};

#[test]
fn print() {
    let actions = vec![
        action(
            "pa-8841 create_linear_issue refunds-agent medium 4",
            "Refund double-charge INV-8841",
            r#"{"title":"Refund double-charge INV-8841","priority":3,"team":"SUP","labels":["refund","eu"],"description":"Three enterprise clients in eu-west-1 report 502s since 13:40 UTC. Attached: status page link, 2 transcripts.\nSecond line."}"#,
        ),
        action(
            "pa-3f9c create_linear_issue refunds-agent medium 12",
            "Escalate: outage in EU region",
            r#"{"title":"Escalate: EU outage","priority":3,"team":"SUP"}"#,
        ),
        action(
            "pa-77 create_linear_issue refunds-agent low 31",
            "退款申请 世界 👩‍💻 客户",
            r#"{"title":"退款申请"}"#,
        ),
        action(
            "pa-1182 update_linear_issue refunds-agent low 62",
            "Close stale ticket #1182",
            r#"{"id":"1182","state":"closed"}"#,
        ),
        action(
            "pa-214 refund_payment billing-agent critical 192",
            "Refund 1.10 EUR to \u{1b}[2J\u{202e}mallory",
            r#"{"amount":1.10,"to":"a\u202eb"}"#,
        ),
        action(
            "pa-90 google_drive_write drive-sync medium 22",
            "Overwrite Q3 plan.docx",
            r#"{"path":"Q3 plan.docx","content":"x"}"#,
        ),
    ];
    for (w, h) in [(160, 45), (100, 30), (80, 24), (40, 10)] {
        let mut desk = Desk::new(w, h, actions.clone());
        desk.press("jja");
        println!("{}\n", desk.screen());
        if w == 100 {
            desk.press("e<Esc>");
            desk.press("s");
            println!("{}\n", desk.screen());
            desk.press("<Esc>?");
            println!("{}\n", desk.screen());
            desk.press("<Esc>e");
            println!("{}\n", desk.screen());
            desk.press("<Esc>q");
            println!("{}\n", desk.screen());
        }
    }
}
