#if Command
internal import StoreCommands

/// The files of the pages, which are embedded in the program.
enum Assets {
    struct Asset {
        let type: String
        let bytes: [UInt8]
    }

    /// Returns the file at a path. All addresses within the explorer are one page.
    static func named(_ path: String) -> Asset? {
        func script(_ bytes: [UInt8]) -> Asset { Asset(type: "text/javascript; charset=utf-8", bytes: bytes) }
        switch path {
        case "/assets/style.css": return Asset(type: "text/css; charset=utf-8", bytes: PackageResources.style_css)
        case "/assets/diagram.css": return Asset(type: "text/css; charset=utf-8", bytes: diagram)
        case "/assets/app.js": return script(PackageResources.app_js)
        case "/assets/parts.js": return script(PackageResources.parts_js)
        case "/assets/table.js": return script(PackageResources.table_js)
        case "/assets/filter.js": return script(PackageResources.filter_js)
        case "/assets/object.js": return script(PackageResources.object_js)
        case "/assets/editing.js": return script(PackageResources.editing_js)
        case "/assets/values.js": return script(PackageResources.values_js)
        case "/assets/views.js": return script(PackageResources.views_js)
        case _ where ["/", "/model", "/history"].contains(path) || path.hasPrefix("/entity/") || path.hasPrefix("/object/"):
            return Asset(type: "text/html; charset=utf-8", bytes: PackageResources.index_html)
        default: return nil
        }
    }

    /// The styles of a drawing, within its element.
    private static let diagram = Array(".diagram {\n\(ModelDrawing.style)\n}\n".utf8)
}
#endif
