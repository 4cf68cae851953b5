//! Definitions of known tools: risk, effect, title, effect of approving, preview (data in `assets/tools`). The gate
//! titles proposals with them; the inbox uses them if a source has none.

mod brief;
mod definition;
mod edited;
mod money;
mod said;
mod telling;
mod totals;

pub use super::show::{Field, Form, Language, Reversible, Unit};

pub use self::brief::{Cell, cells, edited_brief, limited_brief};
pub use self::definition::{Definition, TITLE_MAX, definition, leading_amount, showing, tells, titled};
pub use self::edited::{edited_title, told};
pub use self::money::decimals_of_cents;
pub use self::totals::Totals;
