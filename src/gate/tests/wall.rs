//! The wall: every route of the table asks who calls, and whether they may.

use reqwest::Method;
use secrecy::SecretString;

use super::support::{answer, plain};
use crate::gate::auth::{Access, Scope};
use crate::gate::router;

#[tokio::test]
async fn no_route_but_the_open_ones_answers_without_a_token() {
    let (_folder, gate) = plain().await;
    for route in router::table() {
        let path = route.path.replace(['{', '}'], "");
        let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();

        let bare = answer(gate.client.request(method.clone(), format!("{}{path}", gate.url))).await;
        let wrong = answer(gate.request(method, &path, &SecretString::from("placet_owner_0"))).await;

        let open = route.access == Access::Open;
        assert_eq!(bare.status == 401, !open, "{path}: {}", bare.text);
        assert_eq!(wrong.status == 401, !open, "{path}: {}", wrong.text);
    }
    gate.stop().await;
}

#[tokio::test]
async fn a_token_opens_only_the_doors_of_its_scopes() {
    let (_folder, gate) = plain().await;
    for scope in Scope::ALL {
        let token = gate.gate.create_token("somebody", "w", &[scope], None).await.unwrap();
        for route in router::table() {
            // A stream would never end.
            if route.path.ends_with("/events") && !route.path.contains("{id}") {
                continue;
            }
            let path = route.path.replace(['{', '}'], "");
            let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();

            let said = answer(gate.request(method, &path, &token)).await;

            let may = route.access == Access::Scope(scope) || !matches!(route.access, Access::Scope(_));
            let lacks = said.status == 403 && said.at("/error/message").contains("lacks the scope");
            assert_eq!(lacks, !may, "{path} with {scope}: {} {}", said.status, said.text);
        }
    }
    gate.stop().await;
}
