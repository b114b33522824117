//! Tests of `policy/text`.

use super::*;

#[test]
fn what_a_program_cannot_do_is_an_error_that_names_the_feature() {
    let none = Features {
        tuning: false,
        offline: false,
    };
    for (text, feature) in [
        ("tune-once:5s", "tuning"),
        ("online:10%", "tuning"),
        ("offline:a.lock", "offline"),
    ] {
        let error = Policy::supported(text, none).unwrap_err().to_string();
        let needs = format!("`{text}` needs cltune's feature `{feature}`");
        assert!(error.starts_with(&needs), "{error}");
        let all = Features {
            tuning: true,
            offline: true,
        };
        assert_eq!(Policy::supported(text, all), text.parse());
    }
    assert_eq!(Policy::supported("baked", none), Ok(Policy::Baked));
}

#[test]
fn texts_are_policies_and_back() {
    for text in [
        "baked",
        "tune-once:5s",
        "tune-once:50",
        "online:10%",
        "online:7%",
        "online:0.5%,unchecked",
        "online:10%,window=5s",
        "online:10%,window=1500ms,unchecked",
        "online:30s",
        "online:250ms,unchecked",
        "offline:/a folder/tuned.lock",
        "offline:C:\\tuned.lock",
    ] {
        let policy: Policy = text.parse().unwrap();
        assert_eq!(policy.to_string(), text);
        assert_eq!(policy.to_string().parse(), Ok(policy));
    }
    assert_eq!(" baked ".parse(), Ok(Policy::Baked));
    assert_eq!(
        "online: 10 %".parse::<Policy>().unwrap().to_string(),
        "online:10%"
    );
}

#[test]
fn other_texts_are_errors_that_say_what_to_write() {
    for (text, hint) in [
        ("", "write `baked`"),
        ("Baked", "`Baked` is no policy"),
        ("baked:1", "`baked:1` is no policy"),
        ("tune-once", "`tune-once` needs more"),
        ("tune-once:", "write `tune-once:5s`"),
        ("tune-once:soon", "`soon` is no budget"),
        ("tune-once:0", "nothing"),
        ("online", "write `online:10%`"),
        ("online:10", "`10` is no overhead"),
        ("online:0%", "`0%` is no overhead"),
        ("online:-3%", "`-3%` is no overhead"),
        ("online:NaN%", "`NaN%` is no overhead"),
        ("online:1001%", "`1001%` is no overhead"),
        ("online:10%,fast", "`fast` is unknown"),
        ("online:10%,window=wide", "`window=wide` is unknown"),
        ("online:10%,window=0s", "`window=0s` is unknown"),
        ("online:30s,window=5s", "`window=5s` is unknown"),
        ("offline", "write `offline:tuned.lock`"),
    ] {
        let error = text.parse::<Policy>().unwrap_err().to_string();
        assert!(error.contains(hint), "{text}: {error}");
    }
}
