internal import Foundation
internal import Migration
internal import ModelFiles
package import ObjectGraph

/// Converts and compares models.
package enum ModelConversion {
    /// Writes a model to a file whose name determines the form: `.xcdatamodeld`, `.xcdatamodel`, `.mom`, `.swift`.
    ///
    /// - Throws: An error if the file exists.
    package static func write(_ model: NSManagedObjectModel, to path: String) throws {
        try StoreKind.refuseAddress(path)
        let url = URL(fileURLWithPath: path)
        if FileManager.default.fileExists(atPath: url.path) {
            throw CommandError.make(
                "\(PlaceText.shown(url.path)) is not written.", reason: "There is a file already.", next: "Give another name, or remove it."
            )
        }
        switch url.pathExtension {
        case "xcdatamodel": try model.write(toXCDataModel: url)
        case "xcdatamodeld":
            let name = url.deletingPathExtension().lastPathComponent
            try model.write(toXCDataModel: url.appendingPathComponent("\(name).xcdatamodel"))
        case "mom": try model.compiledModel().write(to: url)
        case "swift": try Data(model.codeFirstSource().utf8).write(to: url)
        default:
            throw CommandError.make(
                "“\(PlaceText.shown(url.lastPathComponent))” is not the name of a model.",
                next: "End it with .xcdatamodeld or .xcdatamodel (for Xcode), .mom (compiled), or .swift (classes with @ManagedObject).")
        }
    }

    /// Returns the differences of two models, each as a sentence.
    package static func differences(_ model: NSManagedObjectModel, _ other: NSManagedObjectModel) -> [String] {
        model.differences(from: other, includingFileAttributes: false)
    }

    /// Returns the reason why an inferred mapping cannot migrate a store of one model to another; nil if it can.
    package static func obstacle(from model: NSManagedObjectModel, to other: NSManagedObjectModel) -> String? {
        do {
            _ = try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: other)
            return nil
        } catch { return (error as NSError).localizedDescription }
    }
}
