internal import Foundation

/// The errors of reading and writing model files.
package enum ModelFileError {
    /// The file does not say what a model file must.
    ///
    /// - Parameters:
    ///   - file: where it was read from; nil for data.
    ///   - line: the line of the file, for text.
    ///   - element: the XML element, or the entity and property.
    ///   - reason: what is wrong.
    static func malformed(_ file: String?, line: Int? = nil, element: String? = nil, _ reason: String) -> NSError {
        var place = file ?? "the data"
        if let line { place += ", line \(line)" }
        if let element { place += ", \(element)" }
        var info: [String: Any] = [remarkKey: (element.map { "\($0): " } ?? "") + reason]
        if let file { info[NSFilePathErrorKey] = file }
        if let line { info[lineKey] = line }
        return CoreDataError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue, "The model cannot be read.", reason: "\(place): \(reason)", info: info)
    }

    private static let lineKey = "OpenCoreDataModelLine"
    private static let remarkKey = "OpenCoreDataModelRemark"

    /// Where a model is wrong, and how, for tools that show it as compilers do.
    package static func place(of error: any Error) -> (file: String?, line: Int?, remark: String) {
        let info = (error as NSError).userInfo
        let file = info[NSFilePathErrorKey] as? String
        return (file, info[lineKey] as? Int, info[remarkKey] as? String ?? (error as NSError).localizedDescription)
    }

    /// There is no file, or none that holds a model.
    static func missing(_ file: String, _ reason: String, next: String? = nil) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileReadNoSuchFile.rawValue, "The model cannot be read.", reason: "\(file): \(reason)", next: next,
            info: [NSFilePathErrorKey: file])
    }

    /// The model says something that the form it is written in cannot say.
    static func unwritable(_ place: String, _ reason: String, next: String? = nil) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileWriteUnknown.rawValue, "The model cannot be written.", reason: "\(place): \(reason)", next: next)
    }
}
