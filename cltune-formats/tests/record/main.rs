//! Tests of records: what is put into an artifact is read from it again; other bytes are an error.

mod any;
mod damaged;
mod declarations;
mod round_trip;
