import Essentials

/// What the probe says of a host.
struct HostFacts: Equatable {
    /// The system and the processor, as `uname` says.
    var kind = ""
    /// The address of this machine as the host sees it.
    var client: String?
    var freeByteCount: Int?
    var isWritable = false
    var version: String?
    var program: String?

    /// Nil unless the lines are those of the probe.
    init?(_ text: String) {
        for line in text.split(separator: "\n").prefix(100) {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            switch (words.first, words.count) {
            case ("kind", 3): kind = words[1] + " " + words[2]
            case ("client", 2): client = words[1]
            case ("free", 2): freeByteCount = Int(words[1]).map { $0 * 1_024 }
            case ("home", 2): isWritable = true
            case ("ubq", 3): (version, program) = (words[1], words[2])
            default: break
            }
        }
        if kind.isEmpty { return nil }
    }

    /// The system and processor of this machine.
    static var ownKind: String {
        var name = utsname()
        uname(&name)
        func text(_ field: some Any) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return text(name.sysname) + " " + text(name.machine)
    }
}
