//! The report of sessions: one page of HTML that needs no network and no script.
//!
//! | file | owns |
//! |---|---|
//! | `page` | the document: head, navigation, a section for each kernel and problem |
//! | `page.css` | its look, also on a phone and in the dark |
//! | `sections` | its sections |
//! | `html` | the parts that sections are made of |
//! | `devices` | names and colours of devices |
//! | `picture` | the progress of a search and the distribution of its configurations |
//! | `influence` | the influence of parameters and pairs of parameters |
//! | `value_groups` | values that the report takes together |

mod devices;
mod html;
mod influence;
mod page;
mod picture;
mod sections;
mod value_groups;

pub(crate) use page::page;
