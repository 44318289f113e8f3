/// Whom a restore lets in or locks out, by its list of devices and accounts.
package struct DeviceListChange: Sendable, Equatable {
    package private(set) var admitted: [Device] = []
    package private(set) var lockedOut: [Device] = []
    /// By name, sorted.
    package private(set) var returningAccounts: [String] = []
    package private(set) var goneAccounts: [String] = []

    /// - Parameter restored: nil where the present list stays.
    package init(from present: DeviceTable?, to restored: DeviceTable?) {
        guard let restored else { return }
        admitted = restored.devices(missingIn: present?.devices ?? [])
        lockedOut = present?.devices(missingIn: restored.devices) ?? []
        guard let former = present.map({ Set($0.presentAccounts.keys) }) else { return }
        let accounts = Set(restored.presentAccounts.keys)
        returningAccounts = accounts.subtracting(former).sorted()
        goneAccounts = former.subtracting(accounts).sorted()
    }
}
