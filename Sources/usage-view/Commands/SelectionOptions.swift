import ClockZones
import ArgumentParser
import Commands
import Essentials
import SnapshotModels
import UsageState

/// Which accounts a command is about.
struct AccountOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only this provider, by id or name. May be repeated.", valueName: "name"),
        completion: .storedProviders)
    var provider: [String] = []

    @Option(help: "Only this account.")
    var account: String?
}

/// Which accounts, and which of their windows.
struct SelectionOptions: ParsableArguments {
    @OptionGroup var accounts: AccountOptions

    @Option(help: "Only this window: session, weekly, or a label such as 5h, 7d or Opus.")
    var window: String?

    var selection: UsageSelection {
        UsageSelection(providers: accounts.provider, window: window, account: accounts.account)
    }
}

extension CompletionKind {
    /// Providers in the local replica.
    static let storedProviders = CompletionKind.custom { words, _, prefix in
        let name = words.drop { $0 != "--store" }.dropFirst().first
        let now = Date()
        let data = LocalUsage(storeName: name ?? StoreOption.defaultName).read(now: now)
        var known: [String] = []
        for state in ViewModel(data: data, now: now, zone: .local).providers {
            let id = state.snapshot.providerID
            guard id.hasPrefix(prefix), ShellWord.isPlain(id), !known.contains(id) else { continue }
            known.append(id)
        }
        return known.sorted()
    }
}
