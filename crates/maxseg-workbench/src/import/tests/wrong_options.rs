//! Options of links with values that no link can have.

use serde_json::json;

use super::{Ends, fails, with_first_link};

#[test]
fn a_value_that_no_link_can_have_is_an_error_with_its_place() {
    let cases = [
        (json!({ "bw": "x" }), "bw", "\"x\"; it takes a rate in Mbit/s"),
        (json!({ "bw": 0 }), "bw", "0; it takes a rate"),
        (json!({ "bw": -5 }), "bw", "-5; it takes a rate"),
        (json!({ "bw": [1] }), "bw", "[1]; it takes a rate"),
        (json!({ "delay": "5 min" }), "delay", "\"5 min\"; it takes a time"),
        (json!({ "jitter": "soon" }), "jitter", "\"soon\"; it takes a time"),
        (json!({ "loss": 101 }), "loss", "101; it takes a share"),
        (json!({ "max_queue_size": 0 }), "max_queue_size", "0; it takes a number of packets"),
    ];
    for (options, key, told) in cases {
        let failure = fails(&with_first_link(&options), Ends::default());
        let told = format!("test.mn: `links[0].opts.{key}` of h1 - s1 is {told}");
        assert!(failure.contains(&told) && failure.contains("for example \""), "{failure}");
    }
}
