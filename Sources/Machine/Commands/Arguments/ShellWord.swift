/// Words that a shell may complete.
package enum ShellWord {
    /// Whether the text means nothing but itself to a shell. bash expands what it completes: `$(…)` in a name that
    /// another device has stored would be run.
    package static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "._-/:@+,=%".utf8.contains(byte)
                }
            }
    }
}
