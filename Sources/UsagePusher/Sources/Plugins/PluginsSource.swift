import Essentials
import LocalFiles
import SQLiteReading
import SnapshotModels

/// Reads what other programs state about providers: documents in `providers.d`, what enabled plug-ins there have given,
/// and the snapshot that CodexBar keeps in iCloud.
///
/// Runs nothing: `PluginRuns` does, and writes the outcomes that are read here.
struct PluginsSource: UsageSource {
    static let id = "plugins"

    let providerID = PluginsSource.id
    let providerName = "Plug-ins"

    private static let entryLimit = 256
    /// The limit of all cards as they are pushed, so that the snapshot of this machine fits with those of others.
    private static let byteLimit = 65_536
    private static let cardByteLimit = 4_096

    /// What was read last, by path: it counts as long as another program is writing there.
    private var documents: [String: [ProviderDocument]] = [:]

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        [PluginFile.directory(environment), PluginOutcome.directory(environment)]
            .map { WatchedPath($0) }
            + SQLiteFiles.watchedPaths(of: [CloudValues.path(home: environment.home)])
    }

    mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        var environment = environment
        environment.limits.documentByteCount = ProviderDocument.byteLimit
        var pass = Pass(environment: environment, now: now, former: documents)
        let directory = PluginFile.directory(environment)
        let names = pass.names(in: directory)
        for name in names where name.hasSuffix(".json") {
            pass.readDocument(directory + "/" + name)
        }
        for name in Set(names.filter(PluginFile.isName)).union(environment.plugins.keys).sorted() {
            pass.readPlugin(name)
        }
        pass.readCloudCopy()
        documents = pass.documents
        if environment.explains { pass.reading.considered = pass.considered }
        if let reason = pass.reading.issues.reason, !pass.reading.issues.errors.isEmpty {
            pass.reading.providers.append(
                ProviderUsageSnapshot(
                    providerID: providerID, providerName: providerName, statusMessage: reason,
                    isError: true, lastUpdated: now))
        }
        return pass.reading
    }

    /// One read and what it has found.
    private struct Pass {
        let environment: SourceEnvironment
        let now: Date
        /// Those of the last read.
        private let former: [String: [ProviderDocument]]
        private(set) var documents: [String: [ProviderDocument]] = [:]
        var reading = SourceReading(isInstalled: false)
        private var budget: ScanBudget
        private var bytesLeft = PluginsSource.byteLimit
        private var evidence = Evidence()

        init(environment: SourceEnvironment, now: Date, former: [String: [ProviderDocument]]) {
            self.environment = environment
            self.now = now
            self.former = former
            budget = ScanBudget(environment)
        }

        /// The visible names in a directory, sorted.
        mutating func names(in directory: String) -> [String] {
            do throws(FileError) {
                let listing = try LocalDirectory(directory).entries(limit: PluginsSource.entryLimit)
                if listing.hasMore { reading.isPartial = true }
                return listing.entries.map(\.name).filter { !$0.hasPrefix(".") }.sorted()
            } catch {
                if !error.isMissing { reading.findings.append(error.finding(title: "directory")) }
                return []
            }
        }

        mutating func readDocument(_ path: String) {
            let title = "provider document"
            do throws(FileError) {
                guard let content = try budget.readDocument(path) else { return }
                let document = ProviderDocument(content.data, observedAt: content.modificationDate)
                add(document ?? former[path]?.first, isWhole: document != nil, path: path, title: title)
            } catch {
                reading.isInstalled = true
                reading.findings.append(error.finding(title: title))
            }
            if budget.isExceeded { reading.isPartial = true }
        }

        /// The snapshot that CodexBar keeps in iCloud, in this machine's copy.
        mutating func readCloudCopy() {
            let title = "CodexBar in iCloud"
            let path = CloudValues.path(home: environment.home)
            do throws(SQLiteError) {
                let values = try CloudValues.data(forKey: SyncedUsageSnapshot.storeKey, in: path, budget: &budget)
                if let values {
                    // All of its providers state their own time.
                    let observedAt = Date(timeIntervalSince1970: 0)
                    for value in values {
                        let document = ProviderDocument(value, observedAt: observedAt)
                        add(document, isWhole: document != nil, path: path, title: title)
                    }
                } else {
                    reading.isPartial = true
                    for document in former[path] ?? [] { add(document, path: path, title: title) }
                }
            } catch {
                var finding = error.finding(title: title)
                // macOS keeps it from programs that may not read everything, and few have CodexBar: nothing is missed.
                if case .file(let error) = error.cause, error.cause == .system(EPERM) {
                    finding.isError = false
                }
                reading.findings.append(finding)
            }
        }

        /// - Parameter isWhole: false for what is there instead of a document, and the last one that was.
        private mutating func add(_ document: ProviderDocument?, isWhole: Bool = true, path: String, title: String) {
            if let document {
                documents[path, default: []].append(document)
                consider(document.flawed, path: path)
            }
            let issue = "no JSON document, or one that is not written to its end yet"
            add(
                document?.providers ?? [], path: path, title: title,
                remarks: isWhole ? document?.issues ?? [] : [issue], isError: document == nil)
        }

        mutating func readPlugin(_ name: String) {
            let file = PluginFile(name, in: environment)
            var outcome: PluginOutcome?
            var remarks: [String] = []
            var isError = false
            if let plugin = environment.plugins[name] {
                do throws(TrustedProgram.Refusal) {
                    try file.check(plugin)
                    do throws(FileError) {
                        outcome = try PluginOutcome.read(name, in: environment)
                        remarks =
                            outcome.map { ($0.failure.map { [$0] } ?? []) + $0.issues } ?? [
                                "has not run; " + PluginOutcome.directory(environment) + " keeps what it gives"
                            ]
                    } catch {
                        isError = true
                        remarks = ["what it gave cannot be read: \(error.sourceMessage)"]
                    }
                } catch {
                    remarks = ["not run: " + error.reason]
                }
            } else {
                guard let status = FileStatus.visible(at: file.path), status.kind == .file,
                    status.permissions & 0o111 != 0
                else { return }
                remarks = ["not enabled; to run it: usage-push config enable-plugin \(name)"]
            }
            add(outcome?.providers ?? [], path: file.path, title: "plug-in", remarks: remarks, isError: isError)
        }

        private mutating func add(
            _ stated: [ProviderUsageSnapshot], path: String, title: String, remarks: [String], isError: Bool = false
        ) {
            for card in stated { consider(card.readings, path: path) }
            var cards: [ProviderUsageSnapshot] = []
            var isCut = false
            for var card in stated.map({ $0.current(at: now) }) {
                if byteCount(card) > PluginsSource.cardByteLimit { card.costSummary?.daily = nil }
                let count = byteCount(card)
                guard count <= bytesLeft else {
                    isCut = true
                    continue
                }
                bytesLeft -= count
                cards.append(card)
            }
            let remarks = remarks + (isCut ? ["more than a snapshot can hold was left out"] : [])
            let withWindows = cards.filter { !$0.windows.isEmpty }
            let summary = ([Self.summary(cards)] + remarks).filter { !$0.isEmpty }.joined(separator: "; ")
            reading.isInstalled = true
            reading.providers += cards
            reading.findings.append(
                SourceFinding(
                    path: path, title: title, certainty: withWindows.isEmpty ? nil : .cachedExact,
                    observedAt: withWindows.map { min($0.lastUpdated, now) }.max(),
                    detail: summary.isEmpty ? "no providers" : summary, isError: isError))
        }

        private mutating func consider(_ readings: [LimitReading], path: String) {
            for reading in readings {
                var reading = reading.dated(at: now)
                reading.origin = LimitReading.Origin(path: path)
                evidence.add(reading)
            }
        }

        /// Every window that was stated, with its verdict.
        var considered: [ConsideredReading] {
            evidence.considered(account: { _ in nil }, present: nil, shownAs: nil, at: now)
        }

        private func byteCount(_ card: ProviderUsageSnapshot) -> Int {
            // What cannot be encoded cannot be sent: too large.
            (try? JSONEncoder().encode(SnapshotBounds.bounded(card, at: now)).count) ?? .max
        }

        /// "claude 22 % / 37 %, opencodego 25 % (estimated)".
        private static func summary(_ cards: [ProviderUsageSnapshot]) -> String {
            cards.prefix(16).map { card in
                let percents = card.windows.prefix(3).map {
                    LimitReading.Window(kind: .unstated, usedPercent: $0.usedPercent, resetsAt: nil).percentText
                }
                let numbers = percents.isEmpty ? "–" : percents.joined(separator: " / ")
                let isEstimate = card.isEstimate
                return (card.providerID.displayText(limit: 40) ?? "?") + " " + numbers
                    + (isEstimate ? " (estimated)" : "")
            }.joined(separator: ", ") + (cards.count > 16 ? " and \(cards.count - 16) more" : "")
        }
    }
}
