use tokio::io::{DuplexStream, duplex};

use super::*;

const LIMIT: Duration = Duration::from_secs(30);

/// A client of a proxy in front of a shell script, without a gate.
struct Client {
    input: Option<DuplexStream>,
    output: BufReader<DuplexStream>,
    signal: CancellationToken,
    proxy: JoinHandle<io::Result<Ended>>,
}

impl Client {
    fn of(script: &str) -> Self {
        let (input, from_client) = duplex(1 << 20);
        let (to_client, output) = duplex(1 << 20);
        let signal = CancellationToken::new();
        let proxy = Proxy {
            server: ["sh", "-c", script].map(OsString::from).into(),
            name: None,
            tools: BTreeMap::new(),
            wait: Wait::Auto,
            mission: None,
        };
        let find: FindGate = Arc::new(|| Box::pin(async { Err("No gate.".to_owned()) }));
        let asked = signal.clone();
        let proxy = tokio::spawn(async move {
            proxy.run(find, (from_client, to_client), async move { asked.cancelled().await }, |_| {}).await
        });
        Self { input: Some(input), output: BufReader::new(output), signal, proxy }
    }

    async fn say(&mut self, line: &[u8]) {
        self.input.as_mut().unwrap().write_all(&[line, b"\n"].concat()).await.unwrap();
    }

    async fn hear(&mut self) -> String {
        let mut line = String::new();
        tokio::time::timeout(LIMIT, self.output.read_line(&mut line)).await.unwrap().unwrap();
        line.trim_end().to_owned()
    }

    async fn end(self) -> Ended {
        drop(self.input);
        tokio::time::timeout(LIMIT, self.proxy).await.unwrap().unwrap().unwrap()
    }
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"w"}}"#;

#[tokio::test]
async fn lines_pass_and_gated_call_is_held() {
    let mut client = Client::of("cat");

    for line in [r#"{"method":"a","params":[1.10]}"#, r#"{"id":1, "result":{}}"#] {
        client.say(line.as_bytes()).await;
        assert_eq!(client.hear().await, line);
    }
    client.say(CALL.as_bytes()).await;
    assert_eq!(
        client.hear().await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"No gate."}],"isError":true}}"#
    );
    assert!(matches!(client.end().await, Ended::Client));
}

#[tokio::test]
async fn server_exit_ends_the_proxy() {
    let mut client = Client::of("echo bye; exit 4");

    assert_eq!(client.hear().await, "bye");
    let ended = tokio::time::timeout(LIMIT, client.proxy).await.unwrap().unwrap().unwrap();
    assert!(matches!(ended, Ended::Server(status) if status.code() == Some(4)), "{ended:?}");
}

#[tokio::test]
async fn server_output_after_the_clients_end_is_passed() {
    let mut client = Client::of("cat; echo last");
    client.say(b"{}").await;
    client.input = None;

    assert_eq!((client.hear().await, client.hear().await), ("{}".to_owned(), "last".to_owned()));
    assert!(matches!(client.end().await, Ended::Client));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn hanging_server_is_killed_with_its_children() {
    // The helper holds the server's standard output, and both ignore SIGTERM.
    let mut client =
        Client::of("trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $!; wait; wait");
    let helper = client.hear().await;
    client.signal.cancel();

    assert!(matches!(client.end().await, Ended::Client));
    // It may remain a zombie if the test environment does not reap it.
    let stat = std::fs::read_to_string(format!("/proc/{helper}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "the helper still runs: {stat}");
}

#[tokio::test]
async fn overlong_line_is_dropped_and_answered() {
    let mut client = Client::of("cat");
    let long = vec![b'x'; CLIENT_LINE + 1];

    client.say(&long).await;
    assert!(client.hear().await.contains("This line is longer than 16 MiB."));
    let call = CALL.replace("\"w\"", &format!("\"w\",\"arguments\":\"{}\"", "x".repeat(CLIENT_LINE)));
    client.say(call.as_bytes()).await;
    let said = client.hear().await;
    assert!(said.contains(r#""id":1,"error""#), "{said}");
    client.say(b"{}").await;
    assert_eq!(client.hear().await, "{}");
}

#[tokio::test]
async fn lines_end_at_line_feeds_only() {
    let text: &[u8] = b"a\r\n\nbcd\nlast";
    let mut lines = lines(text, 3);

    let mut read = Vec::new();
    while let Some(line) = lines.recv().await {
        read.push(match line {
            Read::Line(line) => String::from_utf8(line).unwrap(),
            Read::TooLong(_) => "too long".to_owned(),
        });
    }
    assert_eq!(read, ["a\r", "", "bcd", "too long"]);
}

#[tokio::test]
async fn missing_program_is_an_error() {
    assert!(start(&["/nowhere/server".into()]).is_err());
}
