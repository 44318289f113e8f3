import Foundation
import KVStoreEssentials
import Testing
import UsageState

@testable import usage_view

@Suite("The link to the daemon")
struct LinkHistoryTests {
    private static func date(_ minutes: Double) -> Date { Sample.now.addingTimeInterval(minutes * 60) }

    @Test("a connection that is lost was good until then, whenever it last brought something")
    func lost() {
        let history = LinkHistory()
        let lastSync = Self.date(-180)
        func lastSeen(_ connection: StoreStatus.Connection, _ minutes: Double) -> Date? {
            history.lastSeen(connection, lastSync: lastSync, at: Self.date(minutes))
        }
        #expect(lastSeen(.idle, 0) == lastSync)
        // Never connected: the attempt is no evidence.
        #expect(lastSeen(.offline("refused"), 1) == lastSync)
        #expect(lastSeen(.connected, 2) == lastSync)
        #expect(lastSeen(.offline("broken"), 60) == Self.date(60))
        #expect(lastSeen(.offline("refused"), 61) == Self.date(60))
        #expect(lastSeen(.connected, 70) == Self.date(60))
        #expect(lastSeen(.idle, 90) == Self.date(90))
        #expect(LinkHistory().lastSeen(.idle, lastSync: nil, at: Self.date(0)) == nil)
    }

    @Test("after a sleep nothing is online before it is verified")
    func unverified() {
        #expect(UsageData.Link.online.unverified(since: Self.date(-5)) == .offline(lastSeen: Self.date(-5)))
        let offline = UsageData.Link.offline(lastSeen: Self.date(-9))
        #expect(offline.unverified(since: Self.date(-5)) == offline)
        #expect(UsageData.Link.notJoined.unverified(since: Self.date(-5)) == .notJoined)
    }
}
