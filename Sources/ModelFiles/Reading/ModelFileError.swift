package import Foundation
internal import ObjectGraph

/// The errors of reading and writing model files.
package enum ModelFileError {
    /// Creates the error of a malformed model file.
    ///
    /// - Parameters:
    ///   - file: The path of the file; nil for data.
    ///   - line: The line in the file, for text.
    ///   - element: The XML element, or the entity and property.
    ///   - reason: The cause.
    package static func malformed(_ file: String?, line: Int? = nil, element: String? = nil, _ reason: String) -> NSError {
        var place = file ?? "the data"
        if let line { place += ", line \(line)" }
        if let element { place += ", \(element)" }
        var info: [String: Any] = [remarkKey: (element.map { "\($0): " } ?? "") + reason]
        if let file { info[NSFilePathErrorKey] = file }
        if let line { info[lineKey] = line }
        return CoreDataError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue, "The model cannot be read.", reason: "\(place): \(reason)", info: info)
    }

    /// The keys of the line of an error and of its message, for tools.
    package static let lineKey = "OpenCoreDataModelLine"
    package static let remarkKey = "OpenCoreDataModelRemark"

    /// Returns the place and the message of an error, for tools that report them like compilers.
    package static func place(of error: any Error) -> (file: String?, line: Int?, remark: String) {
        let info = (error as NSError).userInfo
        let file = info[NSFilePathErrorKey] as? String
        return (file, info[lineKey] as? Int, info[remarkKey] as? String ?? (error as NSError).localizedDescription)
    }

    /// Creates the error of a missing file, or of one without a model.
    static func missing(_ file: String, _ reason: String, next: String? = nil) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileReadNoSuchFile.rawValue, "The model cannot be read.", reason: "\(file): \(reason)", next: next,
            info: [NSFilePathErrorKey: file])
    }

    /// Creates the error of a model that the output format cannot represent.
    static func unwritable(_ place: String, _ reason: String, next: String? = nil) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileWriteUnknown.rawValue, "The model cannot be written.", reason: "\(place): \(reason)", next: next)
    }
}
