import Foundation
import LocalFiles
import SnapshotModels

extension UsageSource {
    /// The reading of a tool that keeps its limits in documents, each as old as its file, and names no account.
    ///
    /// - Parameters:
    ///   - paths: of documents, present or not.
    ///   - title: what a document is, for its finding.
    ///   - readings: what a document states; none when it is not in a format that is read.
    func readDocuments(
        _ paths: [String], title: String, in environment: SourceEnvironment, at now: Date,
        readings: (Data, LimitReading.Origin, Date) -> [LimitReading]
    ) -> SourceReading {
        var reading = SourceReading(isInstalled: false)
        var budget = ScanBudget(environment)
        var evidence = Evidence()
        var errors: [FileError] = []
        for path in paths {
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
                errors.append(error)
                if error.showsPresence { reading.isInstalled = true }
                reading.findings.append(error.finding(title: title))
            }
        }
        let card = LimitCard(
            providerID: providerID, providerName: providerName, evidence: evidence, now: now
        ).snapshot().map { AccountCard(snapshot: $0) }
        if reading.isInstalled {
            reading.providers = cards([card].compactMap { $0 }, orFirstOf: errors, at: now)
                .map(\.snapshot)
        }
        if environment.explains {
            reading.considered = evidence.considered(
                account: { _ in nil }, present: nil, shownAs: nil, at: now)
        }
        reading.isPartial = budget.isExceeded
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
