// swift-tools-version: 6.1

import PackageDescription

// Targets that mix what the plugin ManagedAccessors has to tell apart, as applications have them.
let coreData = Target.Dependency.product(name: "CoreData", package: "OpenCoreData")
let accessors = Target.PluginUsage.plugin(name: "ManagedAccessors", package: "OpenCoreData")
let models = Target.PluginUsage.plugin(name: "ModelCompiler", package: "OpenCoreData")

let package = Package(
    name: "MixedTargets",
    dependencies: [.package(name: "OpenCoreData", path: "../../..", traits: ["ManagedAccessors"])],
    targets: [
        // Classes, structures and the model side by side: single files are excluded.
        .target(
            name: "Flat", dependencies: [coreData], exclude: ["Album.swift", "Keys.swift", "Window.swift"], plugins: [accessors, models]),
        // The folder of the classes has structures and the model, too.
        .target(name: "Foldered", dependencies: [coreData], exclude: ["Model"], plugins: [accessors, models]),
        // What is in no folder of `sources:` is none of the target's.
        .target(name: "Listed", dependencies: [coreData], sources: ["Code"], plugins: [accessors]),
        // No managed object class, but key paths.
        .target(name: "Queries", dependencies: ["Flat", coreData], exclude: ["Old"], plugins: [accessors]),
        // The files to translate are named.
        .target(name: "Chosen", dependencies: [coreData], exclude: ["Extra", "ManagedAccessors.json"], plugins: [accessors]),
        // A library with a function that Core Data has too.
        .target(name: "UsersLibrary", dependencies: [coreData]),
        .executableTarget(
            name: "MixedTargets",
            dependencies: [
                "Flat", "Foldered", "Listed", "Queries", "Chosen", "UsersLibrary", coreData,
                .product(name: "FoundationCompatibility", package: "OpenCoreData"),
            ]),
    ]
)
