use cltune_tests::faulty::{BEST, Session, status};
#[test]
fn try_it() {
    let session = Session::new("");
    let tuned = session.tune(&[]);
    println!("{tuned}");
    println!("{:?}", session.journal());
    assert_eq!(session.chosen(), BEST);
    let session = Session::new(
        "segv@clBuildProgram:A=1;abort@clBuildProgram:A=2;print=bla@clEnqueueNDRangeKernel;corrupt@clEnqueueReadBuffer:A=3;unusable@clWaitForEvents:A=5",
    );
    let tuned = session.tune(&[]);
    println!("{tuned}");
    println!("{:?}", status(&tuned, 5));
}
