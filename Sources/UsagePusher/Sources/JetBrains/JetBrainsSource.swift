import Essentials
import LocalFiles

/// Reads the quota of JetBrains AI that each IDE keeps in its options.
///
/// The quota is the account's, and each IDE writes its copy when it has asked for it: of several the newest counts.
struct JetBrainsSource: UsageSource {
    let providerID = "jetbrains"
    let providerName = "JetBrains AI"

    private static let ideLimit = 256

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        (roots(in: environment) + documents(in: environment).paths).map { WatchedPath($0) }
    }

    mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        readDocuments(
            documents(in: environment), title: "JetBrains AI quota", in: environment, at: now,
            readings: JetBrainsQuota.readings)
    }

    /// The directories that have one for each IDE; Android Studio is Google's.
    private func roots(in environment: SourceEnvironment) -> [String] {
        environment.applicationData.flatMap { [$0 + "/JetBrains", $0 + "/Google"] }
    }

    private func documents(in environment: SourceEnvironment) -> DocumentPaths {
        var documents = DocumentPaths()
        for root in roots(in: environment) {
            do throws(FileError) {
                let listing = try LocalDirectory(root).entries(limit: Self.ideLimit)
                documents.paths += listing.entries.map(\.name).sorted().map {
                    "\(root)/\($0)/options/AIAssistantQuotaManager2.xml"
                }
                if listing.hasMore { documents.isCut = true }
            } catch {
                if !error.isMissing { documents.errors.append(error) }
            }
        }
        return documents
    }
}
