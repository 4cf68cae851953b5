//! The configuration: parsed and validated into a [`Config`]. Mistakes name their line and a fix. Secrets are not part
//! of it, only their location ([`TokenFrom`]).

mod callback;
mod check;
mod file;
mod gate;
mod mcp;
mod network;
mod notify;
pub mod paths;
mod proxy;
pub mod secret;
mod source;
mod tool;
mod ui;
mod watch;

pub use callback::CallbackConfig;
pub use check::{ConfigError, in_file_order};
#[cfg(test)]
pub use file::Bound;
pub use file::{Config, Keys, NamedFilter};
pub use gate::{GateConfig, Limits, PostgresConfig, TlsFiles, database};
pub use mcp::{McpTools, is_mcp_name};
pub use network::Network;
#[cfg(test)]
pub use notify::Quiet;
pub use notify::{NotifyOn, NotifyRule, NotifyTo, Webhook, WebhookForm};
#[cfg(test)]
pub use proxy::GroupRights;
pub use proxy::{EVERYBODY, ProxyConfig};
pub use secret::TokenFrom;
pub use source::{AgentsApi, Auth, Dendrux, Praxiom, ReviewKind, SourceConfig, SourceKind, Warden, urls_in};
pub use tool::{Executor, Retry, RiskApprovals, ToolConfig};
pub use ui::{Claiming, Density, Glyphs, GroupBy, Keyboard, Notify, Preset, SortBy, ThemeChoice};
pub use watch::{QueueTargets, Targets, Watch};

#[cfg(test)]
mod tests;
