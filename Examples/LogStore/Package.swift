// swift-tools-version: 6.1

import PackageDescription

// A custom store: it uses CoreData's public interface and the interface for stores in `@_spi(Stores)`.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "LogStore",
    products: [.library(name: "LogStore", targets: ["LogStore"])],
    dependencies: [
        .package(name: "OpenCoreData", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .target(
            name: "LogStore",
            dependencies: [.product(name: "CoreData", package: "OpenCoreData"), .product(name: "Logging", package: "swift-log")],
            swiftSettings: strict),
        .testTarget(
            name: "LogStoreTests", dependencies: ["LogStore", .product(name: "StoreConformance", package: "OpenCoreData")],
            swiftSettings: strict),
    ]
)
