import ArgumentParser
import ClockZones
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import TerminalText
import UsagePusher
import UsageState

/// What all reports of the ledger share.
struct LedgerReportOptions: ParsableArguments {
    @OptionGroup var options: ReportOptions

    @Option(help: ArgumentHelp("Only this provider's tool; may be repeated.", valueName: "id"))
    var provider: [String] = []

    @Option(help: "Seconds to wait for the daemon before showing local data; 0 does not wait.")
    var timeout = 2.0

    @Flag(help: "Show invented names of machines and projects, for screenshots.")
    var redact = false

    func validate() throws {
        guard (0...60).contains(timeout) else { throw ValidationError("--timeout must be between 0 and 60 seconds") }
    }

    /// Prints a report of all machines.
    func print(_ grouping: TokenReport.Grouping, byProject: Bool = false) async throws {
        var ledger = try await ledger()
        let usage = ledger.usage(
            for: grouping, isOfProject: byProject || options.project != nil, try names())
        let gaps = ledger.unreadable.sorted { $0.key.name < $1.key.name }.map { key, failure in
            "\(LedgerKey.storeName): \(key.name) \(failure.text)"
        }
        try options.output(
            usage, by: grouping, byProject: byProject, providers: provider, gaps: gaps,
            emptyMessage: "no past use yet; it comes with 'usage-push', on this machine or another one of the account",
            width: Console.outputColumns
        ).print()
    }

    private func ledger() async throws -> LedgerUsage {
        let reader = try UsageReader.open(storeNamed: LedgerKey.storeName, isLive: false)
        defer { reader.store.close() }
        _ = await reader.synchronize(within: timeout)
        return LedgerUsage(
            LedgerKey.pages(of: reader.store.data(where: LedgerKey.isKey)), zone: options.query(of: provider).zone)
    }

    /// Those of the machines are in the store of the snapshots.
    private func names() throws -> LedgerUsage.Names {
        let reader = try UsageReader.open(storeNamed: StoreOption.defaultName, isLive: false)
        defer { reader.store.close() }
        let devices = ViewModel(data: reader.data(isOnline: reader.isOnline), now: Date(), zone: .local).devices
        let byID = Dictionary(devices.compactMap { device in device.id.map { ($0, device.name) } }) { $1 }
        let projects = LedgerProjectsFile(
            SourceEnvironment(home: UserDirectories().home, variables: ProcessInfo.processInfo.environment)
        ).read()
        if redact {
            let redaction = Redaction(accounts: [], devices: Set(byID.values))
            return .init(device: { redaction.device(byID[$0] ?? $0) }, project: { "project-" + redaction.device($0) })
        }
        return .init(
            device: { byID[$0] ?? "machine " + $0.prefix(8) }, project: { LedgerProjects.name(ofKey: $0, projects) })
    }
}
