import ArgumentParser
import KVStoreServer

/// What a new device may do.
struct PermissionOptions: ParsableArguments {
    @Option(help: "Account whose stores the device sees.") var account = "default"
    @Flag(help: "Refuse writes of the device.") var readOnly = false
    @Flag(help: "Let the device rename and remove the devices of its account.") var admin = false
    @Flag(help: "Lift the limits on the device's requests per second and live streams.")
    var trusted = false
    @Option(help: "Show the device only this store; repeatable.") var store: [String] = []

    /// What a web page may do, which is no more than to look unless it is asked for.
    ///
    /// - Parameter mayWrite: whether it may change keys.
    func permissions(ofPageThatMayWrite mayWrite: Bool) -> DevicePermissions {
        var permissions = permissions
        permissions.isPage = true
        permissions.isReadOnly = !mayWrite
        return permissions
    }

    var permissions: DevicePermissions {
        DevicePermissions(
            account: account, isReadOnly: readOnly, stores: store.isEmpty ? nil : store,
            isAdmin: admin, isTrusted: trusted)
    }
}
