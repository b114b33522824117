//! The command lines under `Examples:` at the end of `--help`; a test holds them parsable.

pub(super) const CLTUNE: &str = "\
Examples:
  cargo cltune                              tune everything on every device, 300 configurations each
  cargo cltune list                         what there is to tune, and what is tuned
  cargo cltune help tune                    all about a command";

pub(super) const TUNE: &str = "\
Examples:
  cargo cltune tune --budget 5m             at most five minutes for each kernel, device and problem
  cargo cltune tune --kernel saxpy --device nvidia --problem n=4096
                                            one kernel, on one device, for one problem
  cargo cltune tune --resume                go on after Ctrl-C, a crash or a power cut
  cargo cltune tune -p kernels --example demo --release
                                            what an example declares, built as for use
  cargo cltune tune --artifact ./app        a shipped program, where there is no Rust
  cargo cltune tune --artifact ./app --partition slice:2/4 --resume
                                            the second of 4 parts, each on a machine of its own
  cargo cltune tune --captured /tmp/launches
                                            what a program launched with CLTUNE_CAPTURE=/tmp/launches";

pub(super) const LIST: &str = "\
Examples:
  cargo cltune list                         tunables, sizes of spaces, state of the lockfile
  cargo cltune list --kernel gemm --explain
                                            what each constraint and device limit removes
  cargo cltune list --limits phone:max_work_group_size=256,local_mem_size=16384
                                            as on a device that is not here";

pub(super) const SHOW: &str = "\
Examples:
  cargo cltune show step                    what the first device gets for the first problem
  cargo cltune show step --device nvidia --problem n=4096 --config VW=4,WG=256
                                            a configuration of one's own";

pub(super) const CHECK: &str = "\
Examples:
  cargo cltune check                        the package in this folder
  cargo cltune check --workspace --locked   all packages, as in continuous integration
  cargo cltune check --all-targets          examples, benchmarks and tests must be tuned, too
  cargo cltune check -p cltune-kernels      a dependency with tunables, which is not judged else
  cargo cltune check --format json          the same for tools";

pub(super) const VERIFY: &str = "\
Examples:
  cargo cltune verify                       what is tuned for the devices of this machine, and the
                                            defaults of what is not
  cargo cltune verify --oclgrind --kernel gemm
                                            data races and accesses out of bounds, without a device
  cargo cltune verify --captured /tmp/launches
                                            what a program launched with CLTUNE_CAPTURE=/tmp/launches";

pub(super) const RULES: &str = "\
Examples:
  cargo cltune rules                        what is tuned, on the devices of this machine
  cargo cltune rules --kernel gemm --device nvidia --problem n=4096
                                            one kernel on one device, for a problem that may not be tuned";

pub(super) const REPORT: &str = "\
Examples:
  cargo cltune report                       writes target/cltune/report.html
  cargo cltune report --kernel gemm --output gemm.html
  cargo cltune report --import a100.json --import mi250x.json
                                            Kernel Tuner's caches of two devices side by side";

pub(super) const EXPORT: &str = "\
Examples:
  cargo cltune export --format kernel-tuner
                                            everything, into target/cltune/export
  cargo cltune export --format csv --kernel saxpy --device nvidia --problem n=4096 --output saxpy.csv
                                            one search
  cargo cltune export --database ~/.cache/cltune/database.toml
                                            values for expressions that nobody tuned yet";

pub(super) const MERGE: &str = "\
Examples:
  cargo cltune merge laptop.lock server.lock --output cltune.lock
  cargo cltune merge cltune.lock --output cltune.lock
                                            solve the merge conflict in a lockfile
  cargo cltune merge mine.toml theirs.toml --output mine.toml
                                            databases of template defaults
  cargo cltune merge part-1 part-2 part-3 --output cltune.lock
                                            all parts of `tune --partition`, each in a folder
  cargo cltune merge cltune.lock contribution.json --output cltune.lock
                                            values for devices of somebody else
  cargo cltune merge a.lock b.lock --artifact ./app --output cltune.lock
                                            of several versions of a kernel, that of ./app
  cargo cltune merge a.lock b.lock --time-again --artifact ./app --output cltune.lock
                                            where they disagree, what is fastest here";

pub(super) const UNITS: &str = "\
Examples:
  cargo cltune units --artifact ./app       what can be tuned apart, a JSON object on each line
  cargo cltune units --artifact ./app --partition slice:2/4
                                            what the second of 4 parts would tune
  cargo cltune units --artifact ./app --format array > units.json
                                            then: hq submit --from-json units.json ...";

pub(super) const CONTRIBUTE: &str = "\
Examples:
  cargo cltune contribute --output contribution.json
                                            all that is tuned for the devices of this machine
  cargo cltune contribute --kernel gemm --device nvidia --artifact ./app
                                            one kernel on one device, on standard output";

pub(super) const CACHE: &str = "\
Examples:
  cargo cltune cache list                   what is kept, and where
  cargo cltune cache export --kernel gemm --output found.lock
                                            then: cargo cltune merge cltune.lock found.lock -o cltune.lock
  cargo cltune cache clear";

pub(super) const SPACE: &str = "\
Examples:
  cargo cltune space gemm.json --explain    how many are valid, and what removes the others
  cargo cltune space gemm.json --sample 10 --distinct";

pub(super) const SIMULATE: &str = "\
Examples:
  cargo cltune simulate gemm.csv.gz --strategy auto --strategy random --plot compare.svg
  cargo cltune simulate cache.json --budget 50 --repeats 100
                                            a Kernel Tuner cache
  cargo cltune simulate here.csv --warm-start there.csv
                                            what another device's results are worth here
  cargo cltune simulate gemm.csv.gz conv.csv.gz --score-over-time
                                            the score of the auto-tuning community";

pub(super) const COMPLETIONS: &str = "\
Each script completes `cargo cltune …` and `cargo-cltune cltune …`:
  cargo cltune completions bash >> ~/.bash_completion
  cargo cltune completions zsh > _cargo-cltune      (in a folder of $fpath)
  cargo cltune completions fish > ~/.config/fish/conf.d/cargo-cltune.fish
  cargo cltune completions powershell >> $PROFILE
  cargo cltune completions elvish >> ~/.config/elvish/rc.elv";

pub(super) const MAN: &str = "\
Examples:
  cargo cltune man --output ~/.local/share/man/man1
                                            then: man cargo-cltune, man cargo-cltune-tune";

/// Every text above.
#[cfg(test)]
pub(super) const ALL: [&str; 16] = [
    CLTUNE,
    TUNE,
    LIST,
    CHECK,
    VERIFY,
    RULES,
    REPORT,
    EXPORT,
    MERGE,
    UNITS,
    CONTRIBUTE,
    CACHE,
    SPACE,
    SIMULATE,
    COMPLETIONS,
    MAN,
];
