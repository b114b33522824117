//! What sessions found, as one page of HTML that needs nothing else: no network, no script.
//!
//! | file | owns |
//! |---|---|
//! | `page` | the document: head, navigation, a section for each kernel and problem |
//! | `page.css` | what it looks like: on a phone, in the dark |
//! | `sections` | what is in it |
//! | `html` | the parts that sections are made of |
//! | `devices` | names and colours of devices |
//! | `picture` | the progress of a search and the distribution of its configurations |
//! | `influence` | how much parameters and pairs of parameters explain |
//! | `transfer` | what the best values of a device cost on the others |
//! | `values` | how fast each value of a parameter can be |

mod devices;
mod html;
mod influence;
mod page;
mod picture;
mod sections;
mod transfer;
mod values;

pub(crate) use page::page;
