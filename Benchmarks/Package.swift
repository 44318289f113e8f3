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
        .target(name: "LocalFiles", swiftSettings: strict),
        .target(name: "KVStoreCore", swiftSettings: strict),
        .target(name: "CChecksum"),
        .target(
            name: "KVStoreLog", dependencies: ["CChecksum", "KVStoreCore", "LocalFiles"],
            swiftSettings: strict),
        .target(
            name: "KVStoreLedger", dependencies: ["KVStoreCore", "KVStoreLog"],
            swiftSettings: strict),
        .target(
            name: "KVStore", dependencies: ["KVStoreCore", "KVStoreLog", "LocalFiles"],
            swiftSettings: strict),
        .executableTarget(
            name: "store-benchmarks",
            dependencies: ["KVStore", "KVStoreCore", "KVStoreLedger", "KVStoreLog"],
            swiftSettings: strict),
    ]
)
