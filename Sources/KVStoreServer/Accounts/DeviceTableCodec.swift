import Foundation

// The file devices.json, UTF-8 JSON, mode 0600:
//
//     { "version": 1, "instance": "<16 hexadecimal digits>",
//       "devices": [ { "id": "<16 hexadecimal digits>", "name": "…", "account": "default",
//                      "scopes": ["read", "write"], "stores": ["…"] (only where limited),
//                      "created": <ms since 1970>, "tokenSHA256": "<64 hexadecimal digits>" } ] }
//
// Unknown fields are ignored; another version is an error.

/// Bytes of devices.json to devices and back.
enum DeviceTableCodec {
    static let byteCount = 4 * 1_024 * 1_024

    private struct Document: Codable {
        var version: Int
        var instance: String
        var devices: [Entry]
    }

    private struct Entry: Codable {
        var id: String
        var name: String
        var account: String
        var scopes: [DeviceScope]
        var stores: [String]?
        var created: Int64
        var tokenSHA256: String
    }

    static func encode(_ table: DeviceTable) -> Data {
        let document = Document(
            version: 1, instance: table.instance,
            devices: table.devices.map { device in
                Entry(
                    id: device.id, name: device.name, account: device.account,
                    scopes: DeviceScope.allCases.filter(device.scopes.contains),
                    stores: device.stores, created: device.created,
                    tokenSHA256: device.digest.hexadecimal)
            })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings and numbers only: there is nothing that could not be encoded.
        return ((try? encoder.encode(document)) ?? Data()) + Data("\n".utf8)
    }

    static func decode(_ data: Data) throws(DeviceFileFault) -> DeviceTable {
        let document: Document
        do {
            document = try JSONDecoder().decode(Document.self, from: data)
        } catch {
            throw .unreadable("it is not the JSON that kvsd writes")
        }
        guard document.version == 1 else {
            throw .unreadable("version \(document.version); this program reads version 1")
        }
        var devices: [Device] = []
        for entry in document.devices {
            guard let digest = TokenDigest(hexadecimal: entry.tokenSHA256) else {
                throw .unreadable("the device \(entry.id) has no SHA-256 of a token")
            }
            devices.append(
                Device(
                    id: entry.id, name: entry.name, account: entry.account,
                    scopes: Set(entry.scopes), stores: entry.stores, created: entry.created,
                    digest: digest))
        }
        do throws(DeviceError) {
            return try DeviceTable(instance: document.instance, devices: devices)
        } catch {
            throw .unreadable(error.description)
        }
    }
}

enum DeviceFileFault: Error, Sendable, Equatable {
    case unreadable(String)
}
