import ArgumentParser
import Commands
import Essentials
import LocalFiles
import TerminalText
import UsagePusher

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "List every reading of a tool's limits, and why it counts or not.",
        discussion: """
            Reads the files as a push does, and pushes nothing. For each reading: what it says, \
            when and where it was written, the account, and whether it is shown. The newest \
            reading of a limit counts, unless it repeats an old window: a session that was idle \
            states what it was last told. 'usage-push sources' lists the files themselves.

            EXAMPLES
              usage-push explain claude
              usage-push explain codex --json
            """)

    @Argument(help: ArgumentHelp("The tool: \(UsageSources.all.choice).", valueName: "provider"))
    var provider: String

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var place: HomeOption

    func validate() throws { try ReportOptions.requireKnown(provider) }

    func run() throws {
        var builder = ReadingOptions.builder(of: [provider], in: place, device: DeviceIdentity(id: nil, name: ""))
        builder.explainsReadings()
        let now = Date()
        builder.readThoroughly(at: now)
        let listing = ReadingsListing(
            provider: builder.reports[0].providerName, readings: builder.reports[0].reading?.considered ?? [], now: now,
            home: builder.environment.home)
        try Console.print(listing, isJSON: json)
        if let incomplete = PushMessages.incomplete(builder.gaps) { Console.report(incomplete) }
    }
}

/// The readings of one tool, as text or JSON.
struct ReadingsListing: Listing {
    let provider: String
    let readings: [ConsideredReading]
    let now: Date
    let home: String

    /// Three lines for each reading: the verdict with the numbers, the reason, and where it is from.
    func lines(width: Int?) -> [String] {
        if readings.isEmpty { return ["no readings of \(provider)'s limits; to see why, run: usage-push sources"] }
        // Not for a program, which would find a path in pieces.
        func wrapped(_ text: String) -> [String] {
            let text = VisibleText.escape(text)
            return width.map { text.wrapped(toCells: max(30, $0 - 4)) } ?? [text]
        }
        return readings.flatMap { reading -> [String] in
            let verdict = reading.isShown ? "shown" : "not shown"
            let age = DurationFormatter.age(of: reading.observedAt, at: now)
            let details = [
                reading.reason,
                "\(reading.observedAt.formatted(.iso8601)) (\(age)), \(reading.account ?? "no account named")",
                UserDirectories.abbreviated(reading.path, home: home) + (Self.line(of: reading).map { ":\($0)" } ?? ""),
            ]
            let head = "\(verdict): \(reading.limit): \(reading.statement)"
            return wrapped(head) + details.flatMap { wrapped($0).map { "    " + $0 } }
        }
    }

    var document: some Encodable {
        Document(generatedAt: now, provider: provider, readings: readings.map(Reading.init))
    }

    /// The number of a reading's line, from 1 on; nil for a document and for a file that is gone.
    private static func line(of reading: ConsideredReading) -> Int? {
        guard let offset = reading.offset else { return nil }
        return try? LocalFile(reading.path).withOpen { file throws(FileError) in  // A file that is gone has no lines.
            var number = 1
            var position: Int64 = 0
            while position < offset {
                let count = Int(min(262_144, offset - position))
                let bytes = try file.bytes(at: position, count: count)
                if bytes.isEmpty { break }
                number += bytes.count { $0 == UInt8(ascii: "\n") }
                position += Int64(bytes.count)
            }
            return number
        }
    }

    /// Fields are added, never renamed or removed.
    private struct Document: Encodable {
        var schemaVersion = 1
        var generatedAt: Date
        var provider: String
        var readings: [Reading]
    }

    private struct Reading: Encodable {
        var limit: String
        var statement: String
        var observedAt: Date
        var path: String
        var line: Int?
        var account: String?
        var isShown: Bool
        var reason: String

        init(_ reading: ConsideredReading) {
            limit = reading.limit
            statement = reading.statement
            observedAt = reading.observedAt
            path = reading.path
            line = ReadingsListing.line(of: reading)
            account = reading.account
            isShown = reading.isShown
            reason = reading.reason
        }
    }
}
