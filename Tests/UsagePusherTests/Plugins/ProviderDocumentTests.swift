import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Documents of other programs")
struct ProviderDocumentTests {
    private let home: SampleHome

    init() throws { home = try SampleHome() }

    private func document(_ text: String) -> ProviderDocument? {
        ProviderDocument(Data(text.utf8), observedAt: sampleNow - 60)
    }

    @Test("an object and a list of one are the same, and the file's time stands in for a missing one")
    func shapes() throws {
        let object = try #require(document(PluginHome.document))
        #expect(object == document("[\(PluginHome.document)]"))
        #expect(object.providers.first?.lastUpdated == sampleNow - 60)
        #expect(document("") == nil && document("7") == nil && document("[") == nil)
        #expect(document("[]")?.providers == [])
    }

    @Test("a file that is larger than the limit is named and not read")
    func large() throws {
        let text = "[" + PluginHome.document + String(repeating: " ", count: 1_048_576) + "]"
        try home.write(".config/ubiquity/providers.d/large.json", text)
        let reading = home.reading(of: PluginsSource())
        #expect(reading.providers.map(\.providerID) == ["plugins"])
        #expect(reading.provider?.isError == true && reading.provider?.windows == [])
        #expect(reading.findings.map(\.detail) == ["cannot be read: it is larger than 1048576 bytes"])
    }

    @Test("a file that is being written keeps its numbers until it is whole, or gone")
    func halfWritten() throws {
        let path = ".config/ubiquity/providers.d/own.json"
        try home.write(path, PluginHome.document)
        var source = PluginsSource()
        let whole = source.read(home)
        #expect(whole.providers.count == 1)
        try home.write(path, String(PluginHome.document.prefix(30)))
        let half = source.read(home)
        #expect(half.providers == whole.providers)
        #expect(half.findings.first?.detail.contains("no JSON document") == true)
        try home.write(path, "[]")
        #expect(source.read(home).providers.isEmpty)
        try home.write(path, PluginHome.document)
        _ = source.read(home)
        try home.remove(path)
        #expect(source.read(home).providers.isEmpty)
    }

    @Test("what does not fit beside other devices' snapshots is left out and named")
    func many() throws {
        let cards = (0..<120).map { number in
            let windows = (0..<16).map {
                "{\"usedPercent\":\($0),\"label\":\"window \($0)\",\"resetsAt\":\"2026-09-19T00:00:00Z\"}"
            }
            return "{\"providerID\":\"p\(number)\",\"rateWindows\":[\(windows.joined(separator: ","))]}"
        }
        try home.write(".config/ubiquity/providers.d/many.json", "[\(cards.joined(separator: ","))]")
        let reading = home.reading(of: PluginsSource())
        #expect(!reading.providers.isEmpty && reading.providers.count < 120)
        #expect(reading.findings[0].detail.hasSuffix("more than a snapshot can hold was left out"))
    }

    @Test(
        "what looks like a credential is hidden, what does not stays",
        arguments: [
            ("Authorization: Bearer abc", "Authorization: [hidden]"),
            ("bearer abc.def", "[hidden]"), ("api_key=\"abc\"", "api_key=\"[hidden]\""),
            ("s" + "k-abcdefgh rejected", "[hidden] rejected"),
            ("{\"access_token\": \"a b\"}", "{\"access_token\": \"[hidden] b\"}"),
            ("at 0123456789abcdef01 end", "at [hidden] end"),
            ("eyJhbGciOi.eyJzdWIi.sig", "[hidden]"),
            ("AbCd+efGhijKlmnOpqrstUvwxyz==", "[hidden]"),
            (
                "GET https://user:pass" + "word@api.example.test/v1 failed",
                "GET https://[hidden]@api.example.test/v1 failed"
            ),
            ("ftp://me:pa/ss@host", "ftp://[hidden]@host"),
            ("https://me@host/x", "https://[hidden]@host/x"),
            ("see https://api.example.test:8443/v1?a=b and mail@example.test", nil),
            ("cannot open '/home/dev/.config/ubiquity/providers.d/tool.py'", nil),
            ("HTTP 401 from https://api.example.test/v1/usage", nil), ("Pro 20x", nil),
        ] as [(String, String?)])
    func masking(_ text: String, _ masked: String?) {
        #expect(SecretMask.masked(text) == masked ?? text)
    }

    @Test("CodexBar's snapshot is read where the system keeps iCloud values")
    func cloudValues() throws {
        let path = CloudValues.path(home: home.path)
        try home.createDirectory(String((path as NSString).deletingLastPathComponent.dropFirst(home.path.count + 1)))
        let snapshot = try SnapshotCodec.encode(
            SyncedUsageSnapshot(
                providers: [
                    ProviderUsageSnapshot(
                        providerID: "kimi", providerName: "Kimi",
                        primary: SyncRateWindow(usedPercent: 7, windowMinutes: 300), lastUpdated: sampleNow - 60)
                ], syncTimestamp: sampleNow, deviceName: "mac"))
        let list = try PropertyListSerialization.data(fromPropertyList: snapshot, format: .binary, options: 0)
        let value = list.map { String(format: "%02x", $0) }.joined()
        _ = try WrittenDatabase(
            path,
            "CREATE TABLE ZSYDMANAGEDKEYVALUE (Z_PK INTEGER PRIMARY KEY, ZKEY, ZPLISTDATAVALUE)",
            "INSERT INTO ZSYDMANAGEDKEYVALUE (ZKEY, ZPLISTDATAVALUE) VALUES"
                + " ('\(SyncedUsageSnapshot.storeKey)', x'\(value)'), ('other', x'00')")
        var source = PluginsSource()
        let reading = source.read(home)
        #expect(reading.providers.map(\.providerID) == ["kimi"])
        #expect(reading.findings.map(\.detail) == ["kimi 7 %"])

        let journal = String(path.dropFirst(home.path.count + 1)) + "-journal"
        try home.write(journal, "x")
        let during = source.read(home)
        #expect(during.isPartial && during.providers == reading.providers)
        var other = PluginsSource()
        #expect(other.read(in: home.environment(), at: sampleNow).isPartial)
        try home.remove(journal)
        #expect(!source.read(home).isPartial)

        for index in list.indices.prefix(16) {
            for byte in [0, 0x0F, 0x1F, 0x40, 0x4F, 0x7F, 0x80, 0xFF] as [UInt8] {
                for count in [index + 1, list.count] {
                    var damaged = list.prefix(count)
                    damaged[index] = byte
                    damaged.withUnsafeBytes { _ = CloudValues.propertyListData($0) }
                }
            }
        }
    }
}
