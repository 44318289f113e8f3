import Essentials
import LocalFiles
import SnapshotModels

/// Where a tool keeps its documents.
struct DocumentPaths {
    /// The paths of documents, present or not.
    var paths: [String] = []
    /// Directories that cannot be listed.
    var errors: [FileError] = []
    /// Whether there are more than are listed.
    var isCut = false
}

extension UsageSource {
    /// The reading of a tool that keeps its limits in documents, each as old as its file, and names no account.
    ///
    /// - Parameters:
    ///   - title: what a document is, for its finding.
    ///   - readings: what a document states; none when it is not in a format that is read.
    func readDocuments(
        _ documents: DocumentPaths, title: String, in environment: SourceEnvironment, at now: Date,
        readings: (Data, LimitReading.Origin, Date) -> [LimitReading]
    ) -> SourceReading {
        var reading = SourceReading(isInstalled: false)
        var budget = ScanBudget(environment)
        var evidence = Evidence()
        for error in documents.errors {
            reading.findings.append(error.finding(title: title))
        }
        for path in documents.paths {
            do throws(FileError) {
                guard let document = try budget.readDocument(path) else { continue }
                reading.isInstalled = true
                let date = document.modificationDate
                var stated = Evidence()
                for limit in readings(document.data, LimitReading.Origin(path: path), date) {
                    stated.add(limit.dated(at: now))
                }
                evidence.merge(stated)
                reading.findings += stated.findings(path: path, title: title, at: now)
            } catch {
                if error.showsPresence { reading.isInstalled = true }
                reading.findings.append(error.finding(title: title))
            }
        }
        reading.isPartial = budget.isExceeded || documents.isCut
        let card = LimitCard(
            providerID: providerID, providerName: providerName, evidence: evidence, now: now, issues: reading.issues
        ).snapshot().map { AccountCard(snapshot: $0) }
        if reading.isInstalled {
            reading.providers = cards([card].compactMap { $0 }, issues: reading.issues, at: now).map(\.snapshot)
        }
        if environment.explains {
            reading.considered = evidence.considered(account: { _ in nil }, present: nil, shownAs: nil, at: now)
        }
        return reading
    }
}

extension Evidence {
    /// What a document states, or why that is no limit; and what was dropped of it.
    func findings(path: String, title: String, at now: Date) -> [SourceFinding] {
        let summary = summary(at: now)
        let absence =
            readings.isEmpty
            ? "no limits in a format that this version reads"
            : "its limits have been reset since it was written"
        let finding = SourceFinding(
            path: path, title: title, certainty: summary == nil ? nil : .cachedExact,
            observedAt: summary?.observedAt, detail: summary?.text ?? absence)
        return [finding] + flawedFindings(title: title)
    }
}
