//! The filter `--kernel`: the tunables that its values mean.

use crate::artifact::PackageTunables;

/// The tunables that `--kernel` means; all of them where it was not given.
#[derive(Debug)]
pub(crate) struct KernelFilter<'a> {
    /// A value, and whether a tunable has just that name.
    filters: Vec<(&'a str, bool)>,
}

impl<'a> KernelFilter<'a> {
    /// For the tunables of these packages.
    pub(crate) fn new(filters: &'a [String], packages: &[PackageTunables]) -> Self {
        let declarations = packages.iter().flat_map(|package| &package.declarations);
        let names: Vec<&str> = declarations.map(|found| &*found.model.name).collect();
        Self::among(filters, &names)
    }

    fn among(filters: &'a [String], names: &[&str]) -> Self {
        let exact = |filter: &str| names.iter().any(|name| is_named(name, filter));
        Self {
            filters: filters
                .iter()
                .map(|filter| (filter.as_str(), exact(filter)))
                .collect(),
        }
    }

    /// Whether the tunable of this name is meant.
    pub(crate) fn means(&self, name: &str) -> bool {
        let means = |&(filter, exact): &(&str, bool)| {
            if exact {
                is_named(name, filter)
            } else {
                name.contains(filter)
            }
        };
        self.filters.is_empty() || self.filters.iter().any(means)
    }
}

/// Whether this is the tunable's name, with its package or without.
fn is_named(name: &str, filter: &str) -> bool {
    name == filter || name.rsplit("::").next() == Some(filter)
}

#[cfg(test)]
mod tests {
    use super::KernelFilter;

    const NAMES: [&str; 3] = ["lib::gemm", "lib::gemm_f64", "lib::batched_gemm"];

    fn meant(filters: &[&str]) -> Vec<&'static str> {
        let filters: Vec<String> = filters.iter().map(ToString::to_string).collect();
        let filter = KernelFilter::among(&filters, &NAMES);
        NAMES
            .into_iter()
            .filter(|name| filter.means(name))
            .collect()
    }

    #[test]
    fn a_whole_name_is_that_kernel_alone_and_a_part_is_all_that_have_it() {
        assert_eq!(meant(&["gemm"]), ["lib::gemm"]);
        assert_eq!(meant(&["lib::gemm"]), ["lib::gemm"]);
        assert_eq!(meant(&["gemm_"]), ["lib::gemm_f64"]);
        assert_eq!(meant(&["lib"]), NAMES);
        assert_eq!(
            meant(&["gemm", "batched"]),
            ["lib::gemm", "lib::batched_gemm"]
        );
        assert_eq!(meant(&["conv"]), [""; 0]);
        assert_eq!(meant(&[]), NAMES);
    }
}
