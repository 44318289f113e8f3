import Foundation

/// A suite of tests of a page.
package protocol PageSuite {}

extension PageSuite {
    /// An expression that is true when an element that the selector matches contains this text.
    package func shows(_ text: String, in selector: String = "body") -> String {
        "[...document.querySelectorAll('\(selector)')].some(e => e.textContent.includes(\(quoted(text))))"
    }

    /// An expression whose value is this text.
    package func quoted(_ text: String) -> String {
        let array = try? JSONSerialization.data(withJSONObject: [text])
        return String(decoding: array ?? Data(), as: UTF8.self) + "[0]"
    }
}
