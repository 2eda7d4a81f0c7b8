// swift-tools-version: 6.1

import PackageDescription

// The unchanged model layer of an iOS app: its .xcdatamodeld and its classes. Nothing in Sources/MusicLibrary is specific to Linux.
let package = Package(
    name: "ModelLayer",
    products: [.library(name: "MusicLibrary", targets: ["MusicLibrary"])],
    dependencies: [.package(name: "OpenCoreData", path: "../..", traits: ["ManagedAccessors"])],
    targets: [
        .target(
            name: "MusicLibrary", dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
            exclude: ["Classes"],
            plugins: [.plugin(name: "ModelCompiler", package: "OpenCoreData"), .plugin(name: "ManagedAccessors", package: "OpenCoreData")]),
        .executableTarget(name: "music", dependencies: ["MusicLibrary"]),
        .testTarget(name: "MusicLibraryTests", dependencies: ["MusicLibrary"]),
    ]
)
