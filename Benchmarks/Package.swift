// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

// The store is compiled from its own sources, through links in Sources, rather than as a dependency, so that nothing
// else has to be resolved or built and the log and the hub can be measured without the programs around them.
let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    targets: [
        .target(name: "Essentials", swiftSettings: strict),
        .target(name: "LocalFiles", dependencies: ["Essentials"], swiftSettings: strict),
        .target(name: "KVStoreCore", dependencies: ["Essentials"], swiftSettings: strict),
        .target(name: "CChecksum"),
        .target(
            name: "KVStoreLog",
            dependencies: ["CChecksum", "KVStoreCore", "LocalFiles", "Essentials"],
            swiftSettings: strict),
        .target(
            name: "KVStoreLedger", dependencies: ["KVStoreCore", "KVStoreLog", "Essentials"],
            swiftSettings: strict),
        .target(
            name: "KVStoreEssentials",
            dependencies: ["KVStoreCore", "KVStoreLog", "LocalFiles", "Essentials"],
            swiftSettings: strict),
        .target(
            name: "KVStoreWire", dependencies: ["KVStoreCore", "Essentials"], swiftSettings: strict),
        .executableTarget(
            name: "store-benchmarks",
            dependencies: [
                "KVStoreEssentials", "KVStoreCore", "KVStoreLedger", "KVStoreLog", "KVStoreWire",
            ],
            swiftSettings: strict),
    ]
)
