import SnapshotModels

extension UsageData {
    /// The same numbers without names of accounts and devices, and without what a tool has said in its own words: for
    /// screenshots and for what other people read.
    package var redacted: UsageData {
        guard case .usage(var usage) = stored else { return self }
        var accounts: [String] = []
        var devices: [String] = []
        func number(of name: String, in names: inout [String]) -> Int {
            if let index = names.firstIndex(of: name) { return index + 1 }
            names.append(name)
            return names.count
        }
        for index in usage.devices.indices {
            let name = usage.devices[index].deviceID ?? usage.devices[index].name
            usage.devices[index].name = "device \(number(of: name, in: &devices))"
            usage.devices[index].deviceID = nil
        }
        for index in usage.providers.indices {
            usage.providers[index].snapshot.statusMessage = nil
            usage.providers[index].snapshot.accountEmail =
                usage.providers[index].snapshot.accountEmail
                .map { "account \(number(of: $0, in: &accounts))" }
            for part in usage.providers[index].parts.indices {
                let device = usage.providers[index].parts[part]
                usage.providers[index].parts[part].deviceName =
                    "device \(number(of: device.deviceID ?? device.deviceName, in: &devices))"
                usage.providers[index].parts[part].deviceID = nil
            }
        }
        return UsageData(link: link, stored: .usage(usage))
    }
}
