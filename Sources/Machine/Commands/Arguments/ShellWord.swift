/// Words of a shell's command line, as it may complete them or a person types them.
package enum ShellWord {
    /// The text as one word.
    package static func quoted(_ text: String) -> String { isPlain(text) ? text : inQuotes(text) }

    package static func inQuotes(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }

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
