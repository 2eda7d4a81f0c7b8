// swift-tools-version: 6.1

import PackageDescription

// Stores over real servers, which the tests start: Kinto, and Django REST framework with and without JSON:API. It is a package of its own,
// so that nobody else needs Python, or waits for the network's packages.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "WebServers",
    dependencies: [
        .package(name: "OpenCoreData", path: "../..", traits: ["WebBackend"]), .package(name: "ToDo", path: "../../Examples/ToDo"),
    ],
    targets: [
        // Writes through a cached store until it is killed. Only the tests use it.
        .executableTarget(
            name: "kinto-writer",
            dependencies: [
                .product(name: "CoreData", package: "OpenCoreData"), .product(name: "RemoteStore", package: "OpenCoreData"),
                .product(name: "WebBackend", package: "OpenCoreData"),
            ],
            path: "Sources/KintoWriter", swiftSettings: strict),
        .testTarget(
            name: "WebServerTests",
            dependencies: [
                .product(name: "CoreData", package: "OpenCoreData"), .product(name: "Predicates", package: "OpenCoreData"),
                .product(name: "RemoteStore", package: "OpenCoreData"), .product(name: "WebBackend", package: "OpenCoreData"),
                .product(name: "StoreConformance", package: "OpenCoreData"), "kinto-writer",
                // The example, which its test runs as a user does.
                .product(name: "todo", package: "ToDo"),
            ],
            exclude: ["Servers"],
            swiftSettings: strict),
    ]
)
