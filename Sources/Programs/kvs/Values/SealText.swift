import Essentials
import KVStoreWire
import KVStoreEssentials
import KVStoreSealed
import TerminalText

/// What `kvs seal` prints.
enum SealText {
    /// The words for another program, or for reading.
    static func words(_ words: [String], isForReading: Bool) -> [String] {
        isForReading ? numbered(words) : [words.joined(separator: " ")]
    }

    static func current(_ status: SealingStatus) -> String {
        status.current.map { "content key \($0.id), code \($0.comparisonCode ?? "")" }
            ?? "no content key: run kvs seal join, or kvs seal create on the first device"
    }

    /// Three columns of four.
    private static func numbered(_ words: [String]) -> [String] {
        let rows = (words.count + 2) / 3
        return (0..<rows).map { row in
            stride(from: row, to: words.count, by: rows).map { index in
                let number = (index < 9 ? " " : "") + "\(index + 1)"
                return "\(number). \(words[index])".padded(toCells: 16)
            }.joined().trimmed()
        }
    }

    /// A page to print.
    static func sheet(_ words: [String], _ status: SealingStatus) -> [String] {
        let created = status.current.map { DateFormat.text($0.created) } ?? ""
        return [
            "Recovery sheet for sealed values", "", "Content key  \(status.current?.id.description ?? "")",
            "Created      \(created)", "Code         \(status.current?.comparisonCode ?? "")", "",
        ] + numbered(words) + [
            "", "Whoever has these words can read everything that is sealed, now and later.",
            "On a new device, join the account, run kvs seal join and enter the words.",
            "After kvs seal rotate this sheet is void: print a new one.",
        ]
    }

    static func lines(_ status: SealingStatus, now: Date) -> [String] {
        var lines = [current(status)]
        if let key = status.current {
            let creator = key.creator.map { " by \(VisibleText.escape($0))" } ?? ""
            lines.append("created \(DurationFormatter.age(of: key.created, at: now))\(creator)")
        }
        if status.formerKeyCount > 0 {
            lines.append("earlier keys, for older values: \(status.formerKeyCount)")
        }
        if !status.devices.isEmpty {
            lines.append("devices:")
            lines += status.devices.map {
                "  \(VisibleText.escape($0.name)) (\($0.id))\($0.isThis ? ", this device" : "")"
            }
        }
        lines += status.unknown.map { key in
            let creator = key.creator.map { " by \(VisibleText.escape($0))" } ?? ""
            return "this device lacks the key \(key.id), created "
                + "\(DurationFormatter.age(of: key.created, at: now))\(creator): enter its words with kvs seal join"
        }
        return lines
    }
}
