// The test file of the page "Port an app from NSUbiquitousKeyValueStore", from the first import on.

import Foundation
import KVStore
import KVStoreTesting
import Testing

/// A type of the app, which uses the default store and observes on the main queue.
@MainActor final class Settings {
    private(set) var theme = "light"

    init() {
        _ = NotificationCenter.default.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification,
            object: UbiquitousKeyValueStore.default, queue: .main
        ) { [weak self] _ in
            MainActor.assumeIsolated { self?.reload() }
        }
        reload()
    }

    func choose(_ theme: String) {
        UbiquitousKeyValueStore.default.set(theme, forKey: "theme")
        reload()
    }

    private func reload() {
        theme = UbiquitousKeyValueStore.default.string(forKey: "theme") ?? "light"
    }
}

@Suite("Settings on two devices", .serialized) @MainActor struct SettingsTests {
    private let cloud = SimulatedCloud(seed: 1)

    @Test("a theme from another device is shown")
    func incoming() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.withDefault(phone) {
            let settings = Settings()
            mac.store.set("dark", forKey: "theme")
            try await cloud.settle()
            #expect(settings.theme == "dark")
        }
    }

    @Test("of two themes the one chosen last is shown")
    func conflict() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.withDefault(phone) {
            let settings = Settings()
            try await cloud.settle()
            phone.isOffline = true
            settings.choose("sepia")
            await cloud.advance(by: .seconds(60))
            mac.store.set("dark", forKey: "theme")
            phone.isOffline = false
            try await cloud.settle()
            #expect(settings.theme == "dark", "\(cloud.explain("theme"))")
        }
    }
}
