//! Startup: reads arguments and configuration, opens what they require, runs the screen or a command, and returns an
//! exit code.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::config::ConfigCommand;
use crate::cli::decide::{self, DecideArgs};
use crate::cli::gate::{self, GateCommand};
use crate::cli::{self, Args, Command, Exit, Usage};
use crate::clock;
use crate::config::paths::Paths;
use crate::config::{Config, ConfigError};
use crate::gate::GateError;
use crate::inbox::notify::NotifyError;
use crate::private;
use crate::program::supervisor;
use crate::tui::{self, KeymapError, NoTerminal, StartView, plain};

mod agents;
mod complete;
mod demo;
mod doctor;
mod embedded;
mod headless;
mod hook;
mod logging;
mod man;
mod mcp;
mod moving;
mod screen;
mod serve;
mod signals;
mod watch;

use screen::Shell;

pub fn run() -> ExitCode {
    if let Some(ended) = supervisor::supervised() {
        return ended;
    }
    if complete::answered() {
        return ExitCode::SUCCESS;
    }
    let args = Args::parse();
    clock::use_utc(args.utc);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // The screen is drawn on this thread, and lists are parsed on others. More workers help only a gate with many
    // agents.
    if !matches!(args.command, Some(Command::Gate(_))) {
        runtime.worker_threads(1);
    }
    let runtime = match runtime.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            cli::complain(&format!("cannot start the runtime: {error}"));
            return ExitCode::FAILURE;
        }
    };
    // With any other exit code a client runs the tool.
    let blocks = matches!(args.command, Some(Command::Hook(_)));
    let exit = runtime.block_on(dispatch(args)).unwrap_or_else(|error| {
        cli::complain(&format!("{error:#}"));
        if let Some(advice) = advice(&error) {
            cli::complain(advice);
        }
        if blocks || is_usage(&error) { Exit::Usage } else { Exit::Failed }
    });
    // Background work has had its time. A blocked helper thread must not delay the exit.
    runtime.shutdown_background();
    ExitCode::from(exit.code())
}

fn is_usage(error: &anyhow::Error) -> bool {
    let gate = matches!(error.downcast_ref::<GateError>(), Some(GateError::Config(_)));
    gate || error.is::<ConfigError>()
        || error.is::<Usage>()
        || error.is::<KeymapError>()
        || error.is::<NotifyError>()
        || error.is::<NoTerminal>()
}

/// Returns advice for errors that do not include it.
fn advice(error: &anyhow::Error) -> Option<&'static str> {
    let missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    if matches!(error.downcast_ref(), Some(ConfigError::Read { error, .. }) if missing(error)) {
        return Some(
            "create it (`placet config example` prints one to start from), or do without PLACET_CONFIG and --config",
        );
    }
    // A gate's errors contain SQLite's messages only as text.
    let text = format!("{error:#}");
    let damaged = ["malformed", "file is not a database"].iter().any(|words| text.contains(words));
    (damaged && error.is::<GateError>()).then_some(
        "the gate's database is damaged; restore a backup: with no placet running, move the database and its -wal and -shm \
         files away, and copy the file that `placet gate backup` made to its place",
    )
}

fn shell(plain: bool, opens: StartView) -> Shell {
    let is_terminal = tui::check_terminal(opens).is_ok();
    let why = plain::session::Why::of(plain, |name| std::env::var(name).ok(), is_terminal);
    why.map_or(Shell::Screen(opens), |why| Shell::Plain(why, opens))
}

async fn run_gate(paths: &Paths, command: GateCommand) -> anyhow::Result<Exit> {
    let config = |database: Option<&str>| serve::with_database(Config::load(paths)?.gate, database, paths);
    match command {
        GateCommand::Serve(args) => serve::run(paths, args).await,
        GateCommand::Backup(args) => {
            gate::database::backup(&config(args.database.database.as_deref())?, &args).await
        }
        GateCommand::Migrate(args) => {
            let named = args.database.as_deref();
            let config = config(named)?.past_pooler(named.is_some());
            gate::database::migrate(config.map_err(|why| anyhow::anyhow!(why))?).await
        }
        GateCommand::Move(args) => moving::run(paths, &args).await,
        GateCommand::Owner(command) => {
            gate::owner(config(command.database())?, command, headless::login_name()).await
        }
    }
}

/// Whether a command relies on the state folder. Doctor reports on the folder instead.
const fn uses_state(command: Option<&Command>) -> bool {
    use Command as C;
    !matches!(
        command,
        Some(
            C::Doctor(_)
                | C::Demo(_)
                | C::Schema(_)
                | C::Completions(_)
                | C::Complete(_)
                | C::Man(_)
                | C::Config(_)
        )
    )
}

async fn dispatch(args: Args) -> anyhow::Result<Exit> {
    let paths = Paths::find(args.config.as_deref(), |name| std::env::var_os(name).map(PathBuf::from))?;
    if uses_state(args.command.as_ref()) {
        private::check_folder(&paths.state).map_err(Usage)?;
    }
    match args.command {
        None => Box::pin(screen::inbox(&paths, shell(args.plain, StartView::Inbox))).await,
        Some(Command::Demo(demo)) => {
            // Boxed, because it holds a gate, an agent and a screen.
            Box::pin(demo::run(shell(args.plain || demo.plain, StartView::Inbox), demo)).await
        }
        Some(Command::Gate(command)) => run_gate(&paths, command).await,
        Some(Command::List(args)) => headless::list(&paths, &args).await,
        Some(Command::Show(args)) => {
            let open = headless::open(&paths).await?;
            let end = cli::show::run(open.inbox(), &args).await;
            open.close(end).await
        }
        Some(Command::Claim(args)) => {
            let open = headless::open(&paths).await?;
            let end = cli::claim::run(open.inbox(), &args).await;
            open.close(end).await
        }
        Some(Command::Decide(args)) => run_decide(&paths, &args).await,
        Some(Command::Retry(args)) => run_decide(&paths, &args.into()).await,
        Some(Command::Log(args)) => headless::log(&paths, &args).await,
        Some(Command::Watch(watched)) if watched.prints() => Box::pin(watch::run(&paths, &watched)).await,
        Some(Command::Watch(watched)) => {
            Box::pin(screen::inbox(&paths, shell(args.plain || watched.plain, StartView::Watch))).await
        }
        Some(Command::Propose(args)) => headless::propose(&paths, args).await,
        Some(Command::Hook(args)) => hook::run(&paths, args).await,
        Some(Command::Mcp(args)) => Box::pin(mcp::run(&paths, args)).await,
        Some(Command::Doctor(args)) => doctor::run(&paths, &args).await,
        Some(Command::Whoami(args)) => headless::whoami(&paths, &args).await,
        Some(Command::Schema(args)) => cli::schema::run(&args),
        Some(Command::Completions(args)) => complete::script(&args),
        Some(Command::Complete(args)) => complete::values(&args),
        Some(Command::Man(args)) => man::run(&args),
        Some(Command::Config(ConfigCommand::Path)) => cli::config::path(&paths),
        Some(Command::Config(ConfigCommand::Example)) => cli::config::example(),
        Some(Command::Config(ConfigCommand::Check)) => config_check(&paths).await,
    }
}

async fn run_decide(paths: &Paths, args: &DecideArgs) -> anyhow::Result<Exit> {
    let open = headless::open(paths).await?;
    let end = decide::run(open.inbox(), args, clock::now()).await;
    open.close(end).await
}

async fn config_check(paths: &Paths) -> anyhow::Result<Exit> {
    let screen = |config: &Config| -> Vec<anyhow::Error> {
        let mut found: Vec<anyhow::Error> =
            tui::check_keys(config).err().map(Into::into).into_iter().collect();
        for filter in &config.filters {
            let alone = Config { filters: vec![filter.clone()], ..config.clone() };
            found.extend(tui::check_filters(&alone).err().map(Into::into));
        }
        let theme = tui::check_theme(config).err();
        found.extend(theme.map(|error| anyhow::Error::from(error).context("ui.theme")));
        found
    };
    cli::config::check(paths, screen).await
}
