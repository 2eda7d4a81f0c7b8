// swift-tools-version: 6.1

import PackageDescription

// A backend that is no web service, over hiredis. It is a package of its own, so that nobody else needs hiredis.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Redis",
    products: [.library(name: "RedisBackend", targets: ["RedisBackend"])],
    dependencies: [.package(name: "OpenCoreData", path: "../..")],
    targets: [
        // Without pkg-config, whose flags for hiredis SwiftPM does not accept: header and library are in the system's directories.
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        .target(
            name: "RedisBackend",
            dependencies: [
                "CHiredis", .product(name: "CoreData", package: "OpenCoreData"), .product(name: "RemoteStore", package: "OpenCoreData"),
                .product(name: "Predicates", package: "OpenCoreData"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RedisBackendTests",
            dependencies: ["RedisBackend", .product(name: "StoreConformance", package: "OpenCoreData")],
            swiftSettings: strict),
    ]
)
