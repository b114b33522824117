//! The results from the lockfile as constants.

use super::context::Context;
use super::{parameters, statics};
use crate::check::Checked;
use cltune_core::device::DeviceType;
use cltune_core::parameter::{Domain, Value};
use cltune_core::select::{Table, TunedResult};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::Path;

/// The table for the selection rule.
pub(super) fn table(table: &Table, krate: &Path) -> TokenStream {
    let Table { devices, results } = table;
    let devices = devices.iter().map(|device| {
        let [platform, name, vendor] =
            [&device.platform, &device.name, &device.vendor].map(statics::text);
        let device_type = match device.device_type {
            DeviceType::Cpu => format_ident!("Cpu"),
            DeviceType::Gpu => format_ident!("Gpu"),
            DeviceType::Accelerator => format_ident!("Accelerator"),
            DeviceType::Other => format_ident!("Other"),
        };
        let [compute_units, max_work_group_size, local_mem_size] = [
            device.compute_units,
            device.max_work_group_size,
            device.local_mem_size,
        ]
        .map(Literal::i64_unsuffixed);
        quote! {
            TunedDevice {
                platform: #platform,
                name: #name,
                vendor: #vendor,
                device_type: DeviceType::#device_type,
                compute_units: #compute_units,
                max_work_group_size: #max_work_group_size,
                local_mem_size: #local_mem_size,
            }
        }
    });
    let results = results.iter().map(|result| {
        let device = Literal::u16_unsuffixed(result.device);
        let problem = statics::integers(&result.problem);
        let values = statics::integers(&result.values);
        let time = Literal::f64_suffixed(result.time_us);
        quote! {
            TunedResult { device: #device, problem: #problem, values: #values, time_us: #time }
        }
    });
    quote! {{
        #[allow(unused_imports)]
        use #krate::__private::core::{
            device::DeviceType,
            select::{TunedDevice, TunedResult, Table},
        };
        #[allow(unused_imports)]
        use ::std::borrow::Cow::Borrowed;
        Table {
            devices: Borrowed(&[#(#devices),*]),
            results: Borrowed(&[#(#results),*]),
        }
    }}
}

/// Results as an expression: none where the compiler finds that the structs have changed.
pub(super) fn used(context: &Context<'_>, results: &TokenStream) -> TokenStream {
    let krate = context.krate;
    if context.checked.if_structs.is_none() {
        return results.clone();
    }
    quote!(if RESULTS_ARE_USED { #results } else { #krate::__private::core::select::Table::EMPTY })
}

/// The same with the module's types, for the user.
pub(super) fn baked(context: &Context<'_>) -> TokenStream {
    let Context { krate, checked, .. } = context;
    let rows = checked
        .table
        .results
        .iter()
        .filter_map(|result| row(krate, checked, result));
    let rows = if checked.if_structs.is_none() {
        quote!(&[#(#rows),*])
    } else {
        quote!(if RESULTS_ARE_USED { &[#(#rows),*] } else { &[] })
    };
    quote! {
        /// What the lockfile holds for this tunable.
        pub const BAKED: &[#krate::Baked<Params, Problem>] = #rows;
    }
}

fn row(krate: &Path, checked: &Checked, result: &TunedResult) -> Option<TokenStream> {
    let device = checked.table.devices.get(usize::from(result.device))?;
    let (platform, name) = (&device.platform, &device.name);
    let dimensions = &checked.dimensions;
    let sizes = result
        .problem
        .iter()
        .map(|size| Literal::i64_unsuffixed(*size));
    let fields = checked
        .parameters
        .iter()
        .zip(result.values.iter())
        .map(|(parameter, code)| {
            let ident = &parameter.ident;
            let value = match (&parameter.domain, parameter.domain.as_ref()?.value(*code)?) {
                (Some(Domain::Names(_)), Value::Name(name)) => {
                    let variant = parameters::variant(&name);
                    quote!(#ident::#variant)
                }
                (_, Value::Bool(value)) => quote!(#value),
                (_, Value::Fraction(value)) => {
                    let value = Literal::f64_suffixed(value.get());
                    quote!(#value)
                }
                _ => {
                    let code = Literal::i64_unsuffixed(*code);
                    quote!(#code)
                }
            };
            Some(quote!(#ident: #value))
        });
    let fields: Vec<TokenStream> = fields.collect::<Option<_>>()?;
    let time = Literal::f64_suffixed(result.time_us);
    Some(quote! {
        #krate::Baked {
            platform: #platform,
            device: #name,
            problem: Problem { #(#dimensions: #sizes),* },
            params: Params { #(#fields),* },
            time_us: #time,
        }
    })
}
