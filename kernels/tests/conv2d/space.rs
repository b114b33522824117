//! The number of configurations, and its reasons.

use cltune::{DeviceField, DeviceLimits};
use cltune_kernels::conv2d::conv2d_direct::{Params, TUNABLE};

/// All combinations of values: the paper's table II, and 16 pixels beside each other.
fn combinations() -> impl Iterator<Item = Params> {
    let sizes = [8, 16, 32, 64];
    let blocks = [1, 2, 4, 8];
    let widths = [1, 2, 4, 8, 16];
    let mut all = vec![[0; 8]];
    let domains: [&[i64]; 8] = [
        &sizes,
        &sizes,
        &widths,
        &blocks,
        &[0, 1, 2],
        &widths,
        &[0, 1],
        &[0, 1],
    ];
    for (place, domain) in domains.iter().enumerate() {
        all = all
            .into_iter()
            .flat_map(|codes| {
                domain.iter().map(move |value| {
                    let mut codes = codes;
                    codes[place] = *value;
                    codes
                })
            })
            .collect();
    }
    all.into_iter()
        .filter_map(|codes| Params::from_codes(&codes))
}

/// The rules behind the published count: of CLTune's own sample, where the paper says nothing, on a
/// device with work-groups of 1024 work-items and 48 KiB of local memory.
fn is_published(params: &Params, filter: i64) -> bool {
    let halo = filter - 1;
    let helpers = |wpt: i64| {
        if params.CACHE == 2 {
            (halo + wpt - 1) / wpt
        } else {
            0
        }
    };
    let work_items = (params.XWG + helpers(params.XWPT)) * (params.YWG + helpers(params.YWPT));
    let tile = (params.XWG * params.XWPT + halo + params.PAD) * (params.YWG * params.YWPT + halo);
    params.XWPT <= 8
        && params.VW <= 4
        && params.XWPT % params.VW == 0
        && (params.PAD == 0 || params.CACHE != 0)
        && (params.CACHE != 2 || halo % params.VW == 0)
        && work_items <= 1024
        && (params.CACHE == 0 || 4 * tile <= 49152)
}

fn is_valid(params: &Params, filter: i64) -> bool {
    let limits = DeviceLimits::NONE
        .with(DeviceField::MaxWorkGroupSize, 1024)
        .with(DeviceField::MaxWorkItemSizeX, 1024)
        .with(DeviceField::MaxWorkItemSizeY, 1024)
        .with(DeviceField::MaxWorkItemSizeZ, 64)
        .with(DeviceField::LocalMemSize, 49152);
    let dims = [2048, 2048, filter];
    TUNABLE
        .model()
        .check(&params.to_codes(), &dims, &limits)
        .is_ok()
}

#[test]
fn the_published_space_is_a_part_of_this_one() {
    // Filter, published, of these valid here, all that are valid here.
    for (filter, published, shared, all) in [
        (3, 3424, 3424, 5352),
        (7, 3424, 3416, 5280),
        (11, 3320, 3308, 4969),
    ] {
        let count = |accepts: &dyn Fn(&Params) -> bool| {
            combinations().filter(|params| accepts(params)).count()
        };
        let counts = [
            count(&|params| is_published(params, filter)),
            count(&|params| is_published(params, filter) && is_valid(params, filter)),
            count(&|params| is_valid(params, filter)),
        ];
        assert_eq!(counts, [published, shared, all], "{filter}");
    }
}
