//! Unit tests of `oclgrind::findings`.

use super::*;

/// As Oclgrind 21.10 writes it.
const LOG: &str = "
Invalid read of size 4 at global memory address 0x1000000000024
\tKernel: run
\tEntity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\t  %2 = load i32, i32 addrspace(1)* %arrayidx21, align 4, !dbg !63, !tbaa !44
\tAt line 10 (column 12) of kernels/of two.cl:
\t  if (z[get_local_id(0) % 4] > 3) y[i] = 3;
\t

Invalid read of size 4 at global memory address 0x1000000000028
\tKernel: run
\tEntity: Global(1,0,0) Local(1,0,0) Group(0,0,0)
\t  %2 = load i32, i32 addrspace(1)* %arrayidx21, align 4, !dbg !63, !tbaa !44
\tAt line 10 (column 12) of kernels/of two.cl:
\t  Invalid read of size 4 at global memory address 0x0
\t

Read-write data race at local memory address 0x1000000000004
\tKernel: run
\t
\tFirst entity:  Global(1,0,0) Local(1,0,0) Group(0,0,0)
\t  store i32 %conv, i32 addrspace(3)* %arrayidx, align 4, !dbg !43, !tbaa !44
\tAt line 5 (column 24) of kernels/of two.cl:
\t  int u;
\t
\tSecond entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\t  %0 = load i32, i32 addrspace(3)* %arrayidx4, align 4, !dbg !51, !tbaa !44
\tAt line 4 (column 12) of kernels/of two.cl:
\t  t[get_local_id(0)] = (int)i;
\t

Index (9) exceeds static array size (9)
\tKernel: run
\tEntity: Global(9,0,0) Local(9,0,0) Group(0,0,0)
\t  %arrayidx = getelementptr inbounds [8 x [9 x float]]
\tAt line 7 (column 3) of kernels/of two.cl:
\t  t[0][l] = l;
\t

Index (10) exceeds static array size (9)
\tKernel: run
\tEntity: Global(10,0,0) Local(10,0,0) Group(0,0,0)
\t  %arrayidx = getelementptr inbounds [8 x [9 x float]]
\tAt line 7 (column 3) of kernels/of two.cl:
\t  t[0][l] = l;
\t

Work-group divergence detected (barrier):
\tKernel: run
";

/// As it writes when it gives up.
const GIVEN_UP: &str = "
OCLGRIND FATAL ERROR (./src/plugins/Uninitialized.cpp:194)
Work item needed to access private memory!
\tKernel: d
\tEntity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\t  %call1 = call spir_func float @_Z5frexpfPi
\tAt line 16 (column 89) of input.cl:
\t  frexp(2.0f, &n);
\t

Oclgrind: 1000 errors generated - suppressing further errors

";

#[test]
fn findings_are_told_apart_counted_and_placed() {
    let found = Log::read(LOG, false).findings;
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    let expected = [
        "kernels/of two.cl:10: Invalid read of size 4 at global memory in `run` (2 times)",
        "kernels/of two.cl:4 and kernels/of two.cl:5: Read-write data race at local memory in \
             `run`",
        "kernels/of two.cl:7: Index exceeds static array size (9) in `run` (2 times)",
        "Work-group divergence detected (barrier): in `run`",
    ];
    assert_eq!(texts, expected);
    let kinds: Vec<Kind> = found.iter().map(Finding::kind).collect();
    let expected = [
        Kind::OutOfBounds,
        Kind::ReadWriteRace,
        Kind::Other,
        Kind::Divergence,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn the_same_defect_may_differ_in_size_and_not_in_its_place() {
    let read = |text: &str| Log::read(text, false).findings.remove(0);
    let found = read(LOG);
    let wider = LOG.replace("size 4", "size 16");
    assert!(found.is_also(&read(&wider)));
    assert!(!found.is_also(&read(&wider.replace("line 10 ", "line 11 "))));
    assert!(!found.is_also(&read(&wider.replace("Kernel: run", "Kernel: other"))));
    assert!(!found.is_also(&read(&wider.replace("Invalid read", "Uninitialized value"))));
    let nowhere = read("Work-group divergence detected (barrier):\n\tKernel: run\n");
    assert!(nowhere.is_also(&nowhere) && !nowhere.is_also(&found));
}

#[test]
fn what_the_simulator_says_of_itself_is_no_finding() {
    let log = Log::read(GIVEN_UP, false);
    let fatal = log.fatal.as_deref();
    assert_eq!(fatal, Some("Work item needed to access private memory!"));
    assert!(log.is_full && log.findings.is_empty(), "{log:?}");
    assert!(!Log::read(LOG, false).is_full);
}

#[test]
fn an_empty_log_has_no_findings_and_a_reference_is_named() {
    assert_eq!(Log::read("\n\n", true), Log::default());
    assert!(
        Log::read(LOG, true).findings[0]
            .to_string()
            .contains("in the reference `run`")
    );
}

/// Each sentence of Oclgrind's about such values, as its source has them.
#[test]
fn uninitialised_values_are_not_believed_where_there_are_images() {
    let holds = |what: &str| {
        let finding = Finding {
            what: what.to_owned(),
            kernel: "run".to_owned(),
            places: Vec::new(),
            count: 1,
            in_reference: false,
        };
        finding.holds_with_images()
    };
    assert!(!holds("Controlflow depends on uninitialized value"));
    assert!(!holds("Uninitialized value written to global memory"));
    assert!(!holds("Uninitialized address used to read 4 bytes"));
    assert!(holds("Invalid read of size 4 at global memory"));
    assert!(holds("Read-write data race at local memory"));
}
