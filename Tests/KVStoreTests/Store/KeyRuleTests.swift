import Foundation
import KVStore
import StoreTestSupport
import Testing

/// What each member that writes does with each kind of key, as the table in `PortAnApp.md` says.
@Suite("Keys that are empty, too long or unusual", .timeLimit(.minutes(5)))
struct KeyRuleTests {
    enum Member: String, CaseIterable, Codable {
        case object, string, data, array, dictionary, longLong, double, bool, value
        case removeObject, nilObject, nilString, nilData, nilArray, nilDictionary, nilValue

        static let removers = allCases.filter {
            $0 == .removeObject || $0.rawValue.hasPrefix("nil")
        }
        static let setters = allCases.filter { !removers.contains($0) }

        func call(on store: UbiquitousKeyValueStore, _ key: String) {
            switch self {
            case .object: store.set("x" as Any?, forKey: key)
            case .string: store.set("x", forKey: key)
            case .data: store.set(Data([1]), forKey: key)
            case .array: store.set([1], forKey: key)
            case .dictionary: store.set(["a": 1], forKey: key)
            case .longLong: store.set(Int64(1), forKey: key)
            case .double: store.set(1.5, forKey: key)
            case .bool: store.set(true, forKey: key)
            case .value: store.setValue(1, forKey: key)
            case .removeObject: store.removeObject(forKey: key)
            case .nilObject: store.set(nil as Any?, forKey: key)
            case .nilString: store.set(nil as String?, forKey: key)
            case .nilData: store.set(nil as Data?, forKey: key)
            case .nilArray: store.set(nil as [Any]?, forKey: key)
            case .nilDictionary: store.set(nil as [String: Any]?, forKey: key)
            case .nilValue: store.setValue(nil, forKey: key)
            }
        }
    }

    private static let unusual = [
        "k", " ", "\0", "a\0b", "\n", "a/b", "%41", "\u{FEFF}", "\u{202E}", String(repeating: "k", count: 128),
        String(repeating: "日", count: 128), String(repeating: "😀", count: 64),
        // Half of a surrogate pair, which no Swift string holds.
        String(decoding: [0xD83D as UInt16], as: UTF16.self),
    ]
    private static let impossible = ["", String(repeating: "k", count: 129), String(repeating: "😀", count: 65)]

    private let directory: TemporaryDirectory
    private let store: UbiquitousKeyValueStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try UbiquitousKeyValueStore(configuration: StoreConfiguration(directory: directory.file("replica")))
    }

    @Test("every setter stores under every key that is allowed, and every remover removes it")
    func allowed() {
        for key in Self.unusual {
            for (index, setter) in Member.setters.enumerated() {
                setter.call(on: store, key)
                #expect(store.object(forKey: key) != nil, "\(setter) \(key.debugDescription)")
                Member.removers[index % Member.removers.count].call(on: store, key)
                #expect(store.object(forKey: key) == nil, "\(setter) \(key.debugDescription)")
            }
        }
    }

    @Test("removing a key that cannot exist does nothing", arguments: Member.removers)
    func removing(_ member: Member) throws {
        for key in Self.impossible {
            member.call(on: store, key)
            try store.write(nil, forKey: key)
            #expect(store.object(forKey: key) == nil)
        }
        #expect(store.keys.isEmpty && store.status.pendingKeyCount == 0)
    }

    @Test("a value for an empty key is ignored", arguments: Member.setters)
    func empty(_ member: Member) {
        member.call(on: store, "")
        #expect(store.keys.isEmpty && store.object(forKey: "") == nil)
    }

    @Test("a value for a key that is too long stops the program", arguments: Member.setters)
    func tooLong(_ member: Member) async {
        for profile in KeyProfile.allCases {
            await #expect(processExitsWith: .failure) {
                [member = member as Member, profile = profile.rawValue as String] in
                let directory = try TemporaryDirectory()
                let profile = try #require(KeyProfile(rawValue: profile))
                let store = try UbiquitousKeyValueStore(
                    configuration: StoreConfiguration(
                        directory: directory.file("replica"), limits: StoreLimits(keyProfile: profile)))
                let longest = String(repeating: "k", count: profile.limit)
                member.call(on: store, longest)
                guard store.keys == [longest] else { exit(EXIT_SUCCESS) }
                member.call(on: store, longest + "k")
                exit(EXIT_SUCCESS)
            }
        }
    }
}
