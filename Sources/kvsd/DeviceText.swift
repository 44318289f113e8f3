import Foundation
import KVStoreServer

/// Devices for a terminal and for programs. No digest and no token is shown.
enum DeviceText {
    static func lines(_ devices: [Device]) -> [String] {
        let rows =
            [["ID", "NAME", "ACCOUNT", "MAY", "STORES", "ADDED"]]
            + devices.map { device in
                [
                    device.id, device.name, device.account, scopes(device).joined(separator: "+"),
                    device.stores?.joined(separator: ",") ?? "all", date(device.created),
                ]
            }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths)
                .map { $0.padding(toLength: max($1, $0.count), withPad: " ", startingAt: 0) }
                .joined(separator: "  ")
                .trimmingCharacters(in: .whitespaces)
        }
    }

    private struct Line: Encodable {
        var id: String
        var name: String
        var account: String
        var scopes: [String]
        var stores: [String]?
        var created: Int64
    }

    static func json(_ devices: [Device]) -> String {
        let lines = devices.map { device in
            Line(
                id: device.id, name: device.name, account: device.account, scopes: scopes(device),
                stores: device.stores, created: device.created)
        }
        return String(decoding: WireJSON.encode(lines), as: UTF8.self)
    }

    private static func scopes(_ device: Device) -> [String] {
        DeviceScope.allCases.filter(device.scopes.contains).map(\.rawValue)
    }

    private static func date(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
            .formatted(.iso8601.year().month().day())
    }
}
