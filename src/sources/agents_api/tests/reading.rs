use super::*;

fn ids(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_raw()).collect()
}

#[tokio::test]
async fn long_list_is_read_whole_at_any_page_size() {
    for (page_max, pages, total) in
        [(200, true, 450), (50, true, 120), (2, true, 5), (7, true, 30), (500, false, 300)]
    {
        let desk = Desk::at(Setup { page_max, pages, ..Setup::DATA_MACHINE }).await;
        let put: Vec<ActionId> = (0..total).map(|_| desk.site.put(|_| ())).collect();

        let (rows, unreadable) = desk.listed().await.unwrap();

        let want: Vec<_> = put.iter().map(ActionId::as_raw).collect();
        // A host without pages returns at most 200 actions.
        let want = if pages { want } else { want[..200].to_vec() };
        assert_eq!(ids(&rows), want, "{page_max} a page");
        assert!(unreadable.is_empty());
    }
}

#[tokio::test]
async fn settling_during_a_list_hides_no_action() {
    let desk = Desk::at(Setup { page_max: 50, ..Setup::DATA_MACHINE }).await;
    let put: Vec<ActionId> = (0..200).map(|_| desk.site.put(|_| ())).collect();
    // Sixty actions of the first page settle with the second page, more than two pages overlap by.
    desk.site.books().settles_at_page = Some((2, 60));

    let (rows, _) = desk.listed().await.unwrap();

    let listed: std::collections::HashSet<_> = rows.iter().map(|row| &row.id).collect();
    let missing: Vec<_> = put.iter().skip(60).filter(|id| !listed.contains(id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[tokio::test]
async fn site_without_pretty_permalinks_is_found_and_remembered() {
    let desk = Desk::at(Setup { pretty_permalinks: false, ..Setup::DATA_MACHINE }).await;
    let id = desk.site.put(|_| ());

    assert_eq!(ids(&desk.listed().await.unwrap().0), [id.as_raw()]);
    assert_eq!(desk.approve(&id).await, Outcome::Approved);

    let asked = desk.site.books().asked.clone();
    let pretty = asked.iter().filter(|line| line.contains("/wp-json")).count();
    assert_eq!(pretty, 1, "asked for once: {asked:?}");
    assert!(asked.iter().any(|line| line.starts_with("POST /?rest_route=%2Fwp-abilities%2Fv1")), "{asked:?}");
}

#[tokio::test]
async fn unreadable_action_hides_no_other_and_can_be_rejected() {
    let desk = Desk::at_data_machine().await;
    let good = desk.site.put(|_| ());
    let bad = desk.site.put(|kept| {
        kept.broken = Some(r#"{"action_id":"act_1","kind":"publish_post","status":"pending"}"#);
    });
    desk.site.put(|kept| kept.broken = Some(r#""nothing""#));

    let (rows, unreadable) = desk.listed().await.unwrap();

    assert_eq!(ids(&rows), [good.as_raw()]);
    assert_eq!(unreadable.len(), 2);
    assert_eq!(unreadable[0].what, "it has no apply_input");
    let stand_ins: Vec<Row> = unreadable.iter().map(|bad| bad.stand_in().row).collect();
    assert_eq!(stand_ins[0].id, bad);
    assert!(stand_ins[0].can.can_decide());
    assert!(!stand_ins[1].can.can_decide());
}

#[tokio::test]
async fn pending_actions_are_read_from_the_list_settled_ones_singly() {
    let desk = Desk::at_data_machine().await;
    let put: Vec<ActionId> = (0..40).map(|_| desk.site.put(|_| ())).collect();
    desk.site.with(&put[3], |kept| {
        (kept.status, kept.resolver) = ("rejected".to_owned(), Some("user:9".to_owned()));
    });
    let gone = ActionId::new("gone");

    let wanted: Vec<ActionId> = put.iter().cloned().chain([gone]).collect();
    let found = desk.source.get(&wanted).await.unwrap();

    assert_eq!(found.len(), 40);
    let rejected = found.iter().flatten().find(|action| action.row.id == put[3]).unwrap();
    assert_eq!(
        (&rejected.row.status, &rejected.row.resolved_by),
        (&Status::Rejected, &Some("user:9".into()))
    );
    let gets = desk.site.books().asked.iter().filter(|line| line.contains("/get-pending-action/")).count();
    assert_eq!(gets, 2, "the settled one and the unknown one");
}

#[tokio::test]
async fn list_shows_only_the_configured_agent() {
    let settings = Settings { agent: Some("editor".to_owned()), ..Settings::default() };
    let desk = Desk::with(Setup::DATA_MACHINE, settings).await;
    desk.site.put(|_| ());
    desk.site.put(|kept| kept.odd = r#","agent":"another""#);

    assert_eq!(ids(&desk.listed().await.unwrap().0), ["act_0"]);
    let other = Settings { agent: Some("nobody".to_owned()), ..Settings::default() };
    let config = SourceConfig { kind: SourceKind::AgentsApi(other), ..config(&desk.url) };
    let source = crate::sources::open_in_a_hurry(&config, Duration::from_secs(20)).unwrap();
    assert_eq!(source.sync(None).await, Ok(Synced::All { rows: vec![], unreadable: vec![], revision: None }));
}

#[tokio::test]
async fn context_shows_the_proposal_and_the_hosts_metadata() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|kept| {
        kept.expires_at = r#""next tuesday""#.to_owned();
        kept.metadata = r#"{"session_id":"s","datamachine":{"agent_id":0},"grants":[]}"#.to_owned();
    });

    let passages = desk.source.abilities().context.unwrap().context(&id, &[]).await.unwrap();

    let told: Vec<(&str, Vec<&str>)> = passages
        .iter()
        .map(|it| (it.title, it.facts.iter().map(|fact| fact.name.as_raw()).collect()))
        .collect();
    let proposal = vec!["kind", "creator", "agent", "workspace", "session", "expires (as it came)"];
    let host = vec!["session_id", "datamachine"];
    assert_eq!(told, [("The proposal", proposal), ("What its host adds", host)]);
    assert_eq!(
        desk.source.abilities().context.unwrap().context(&ActionId::new("gone"), &[]).await,
        Ok(vec![])
    );
}
